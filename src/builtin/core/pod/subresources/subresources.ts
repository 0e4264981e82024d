// Writes to the subresources `ephemeralcontainers` and `resize`: each changes one part of the pod and keeps the rest.

import { ensureObject, keepFrom, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { firstByKey } from '../../../../meta/values/list-keys.js'
import { copyValue, type ValueObject } from '../../../../meta/values/value.js'
import { countSpecChanges, inTurn, keepMetadata, type PrepareForUpdate } from '../../../common/strategies.js'

/** The old pod, with what `change` takes from the new one, and with the metadata that a write cannot change: they are checked. */
const keepOldExcept =
  (change: (spec: ValueObject, requested: ValueObject) => void): PrepareForUpdate =>
  (pod, old, context) => {
    const requested = objectAt(pod, 'spec')
    const metadata = objectAt(pod, 'metadata')
    for (const member of Object.keys(pod)) delete pod[member]
    Object.assign(pod, copyValue(old), { metadata })
    keepMetadata(pod, old, context)
    change(ensureObject(pod, 'spec'), requested)
  }

/** Adds containers for debugging. */
export const forEphemeralContainers: PrepareForUpdate = inTurn(
  keepOldExcept((spec, requested) => keepFrom(spec, requested, 'ephemeralContainers')),
  countSpecChanges,
)

/** Changes resources of the pod and of its containers. Added or removed containers are refused by validation. */
export const forResize: PrepareForUpdate = inTurn(
  keepOldExcept((spec, requested) => {
    keepFrom(spec, requested, 'resources')
    for (const field of ['containers', 'initContainers']) {
      const before = objectsAt(spec, field)
      if (before.length === 0 && objectsAt(requested, field).length === 0) continue
      const known = firstByKey(before, each => stringAt(each, 'name'))
      spec[field] = objectsAt(requested, field).map(container => {
        const old = known.get(stringAt(container, 'name'))
        return old ? resized(old, container) : container
      })
    }
  }),
  countSpecChanges,
)

function resized(container: ValueObject, requested: ValueObject): ValueObject {
  const changed = { ...container }
  keepFrom(changed, requested, 'resources')
  keepFrom(changed, requested, 'resizePolicy')
  return changed
}
