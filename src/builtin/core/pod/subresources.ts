// The parts of a pod that are written on their own while it runs: whatever else a request brings is left as it was.

import { ensureObject, keepFrom, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import { copyValue, type ValueObject } from '../../../meta/values/value.js'
import { countSpecChanges, inTurn, type PrepareForUpdate } from '../../common/strategies.js'

/** The old object, but for what says which one is meant and what `change` takes from the new one. */
const onlyThat =
  (change: (spec: ValueObject, wanted: ValueObject) => void): PrepareForUpdate =>
  (pod, old) => {
    const wanted = objectAt(pod, 'spec')
    const { resourceVersion } = objectAt(pod, 'metadata')
    for (const member of Object.keys(pod)) delete pod[member]
    Object.assign(pod, copyValue(old))
    if (resourceVersion !== undefined) ensureObject(pod, 'metadata')['resourceVersion'] = resourceVersion
    change(ensureObject(pod, 'spec'), wanted)
  }

/** Containers that somebody adds to look inside. */
export const forEphemeralContainers: PrepareForUpdate = inTurn(
  onlyThat((spec, wanted) => keepFrom(spec, wanted, 'ephemeralContainers')),
  countSpecChanges,
)

/** How much containers ask for and may use. Those that are new or gone are left to be refused. */
export const forResize: PrepareForUpdate = inTurn(
  onlyThat((spec, wanted) => {
    for (const field of ['containers', 'initContainers']) {
      const before = objectsAt(spec, field)
      if (before.length === 0 && objectsAt(wanted, field).length === 0) continue
      spec[field] = objectsAt(wanted, field).map(container => {
        const old = before.find(each => stringAt(each, 'name') === stringAt(container, 'name'))
        return old ? resized(old, container) : container
      })
    }
  }),
  countSpecChanges,
)

function resized(container: ValueObject, wanted: ValueObject): ValueObject {
  const changed = { ...container }
  keepFrom(changed, wanted, 'resources')
  keepFrom(changed, wanted, 'resizePolicy')
  return changed
}
