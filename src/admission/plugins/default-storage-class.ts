// DefaultStorageClass: a new PersistentVolumeClaim without a class gets the default StorageClass.

import { has, mapAt, objectAt } from '../../meta/values/access.js'
import type { Lister } from '../../objects/lister.js'
import type { AdmissionPlugin } from '../chain.js'
import { defaultClassOf } from './default-class.js'

const STORAGE_CLASS = { group: 'storage.k8s.io', kind: 'StorageClass' }
const IS_DEFAULT = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
] as const

/** Claims once named their class in this annotation. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

export const defaultStorageClass = (objects: Lister): AdmissionPlugin => ({
  name: 'DefaultStorageClass',
  operations: new Set(['CREATE']),
  resources: ['persistentvolumeclaims'],
  async mutate({ object: claim }) {
    if (!claim) return undefined
    const spec = objectAt(claim, 'spec')
    // An empty name is a choice: the claim wants a volume without a class.
    if (has(spec, 'storageClassName') || has(mapAt(claim.metadata, 'annotations'), CLASS_ANNOTATION)) return undefined
    const storageClassName = defaultClassOf(await objects.all(STORAGE_CLASS, ''), IS_DEFAULT)
    return storageClassName === undefined ? undefined : { ...claim, spec: { ...spec, storageClassName } }
  },
})
