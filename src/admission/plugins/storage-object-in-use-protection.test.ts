import { expect, test } from 'vitest'
import { attributesFor } from '../attributes.suite.js'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.js'

test.each([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
])('new %s get the finalizer %s, once', (resource, finalizer) => {
  const object = { apiVersion: 'v1', kind: 'K', metadata: { finalizers: ['example.com/a'] } }
  const protectedObject = { ...object, metadata: { finalizers: ['example.com/a', finalizer] } }
  const { mutate } = storageObjectInUseProtection
  expect(mutate!(attributesFor(resource, { object }))).toEqual(protectedObject)
  expect(mutate!(attributesFor(resource, { object: protectedObject }))).toBeUndefined()
})
