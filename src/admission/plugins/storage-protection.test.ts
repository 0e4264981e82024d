import { expect, test } from 'vitest'
import { protectStorage } from './storage-protection.js'

test.each([
  ['', 'PersistentVolumeClaim', 'kubernetes.io/pvc-protection'],
  ['', 'PersistentVolume', 'kubernetes.io/pv-protection'],
  ['storage.k8s.io', 'VolumeAttributesClass', 'kubernetes.io/vac-protection'],
])('a new %s/%s is held by a finalizer, once', (group, kind, finalizer) => {
  const object = { apiVersion: 'v1', kind, metadata: { finalizers: ['example.com/a'] } }
  const held = protectStorage(object, group, kind)
  expect(held.metadata).toEqual({ finalizers: ['example.com/a', finalizer] })
  expect(protectStorage(held, group, kind)).toBe(held)
})

test('others are not', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }
  expect(protectStorage(object, '', 'ConfigMap')).toBe(object)
})
