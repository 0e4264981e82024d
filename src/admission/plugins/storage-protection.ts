// Storage that something may still use is held by a finalizer from the start.

import { type ApiObject } from '../../meta/object/api-object.js'
import { stringsAt } from '../../meta/values/access.js'

/** By `group/Kind`. */
const FINALIZERS: Readonly<Record<string, string | undefined>> = {
  '/PersistentVolumeClaim': 'kubernetes.io/pvc-protection',
  '/PersistentVolume': 'kubernetes.io/pv-protection',
  'storage.k8s.io/VolumeAttributesClass': 'kubernetes.io/vac-protection',
}

/** A new object of the kind, held if objects of that kind are. */
export function protectStorage(object: ApiObject, group: string, kind: string): ApiObject {
  const finalizer = FINALIZERS[`${group}/${kind}`]
  const finalizers = stringsAt(object.metadata, 'finalizers')
  if (finalizer === undefined || finalizers.includes(finalizer)) return object
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } }
}
