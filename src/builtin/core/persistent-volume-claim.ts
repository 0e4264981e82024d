// PersistentVolumeClaim: a request for storage.
import { ensureObject, setDefault } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

/** Defaults of a claim, by itself or as a template in a stateful set. */
export function defaultVolumeClaim(claim: ValueObject): void {
  setDefault(ensureObject(claim, 'status'), 'phase', 'Pending')
  setDefault(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem')
}
