// StorageObjectInUseProtection: new claims, volumes and volume attributes classes get a finalizer, which a controller
// removes when nothing uses the object any more.

import { printGroupResource } from '../../meta/group-version.js'
import { stringsAt } from '../../meta/values/access.js'
import type { AdmissionPlugin } from '../chain.js'

const FINALIZERS: ReadonlyMap<string, string> = new Map([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
])

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  operations: new Set(['CREATE']),
  resources: [...FINALIZERS.keys()],
  mutate({ object, resource }) {
    const finalizer = FINALIZERS.get(printGroupResource(resource))
    if (!object || finalizer === undefined) return undefined
    const finalizers = stringsAt(object.metadata, 'finalizers')
    if (finalizers.includes(finalizer)) return undefined
    return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } }
  },
}
