// What the kinds of storage get where they say nothing.

import { ensureObject, setDefault, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

export const STORAGE_DEFAULTS: Readonly<Record<string, (object: ValueObject) => void>> = {
  'storage.k8s.io/v1 StorageClass': storage => {
    setDefault(storage, 'reclaimPolicy', 'Delete', false)
    setDefault(storage, 'volumeBindingMode', 'Immediate', false)
  },
  'storage.k8s.io/v1 CSIDriver': driver => {
    const spec = ensureObject(driver, 'spec')
    setDefault(spec, 'attachRequired', true, false)
    setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType', false)
    for (const off of ['podInfoOnMount', 'storageCapacity', 'requiresRepublish', 'seLinuxMount']) {
      setDefault(spec, off, false, false)
    }
    if (stringsAt(spec, 'volumeLifecycleModes').length === 0) spec['volumeLifecycleModes'] = ['Persistent']
  },
}
