// Who claims a device and does not say how many wants one.

import { ensureObject, objectAt, objectOrNone, objectsAt, setDefault, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

function defaultWanted(wanted: ValueObject): void {
  setDefault(wanted, 'allocationMode', 'ExactCount')
  if (stringAt(wanted, 'allocationMode') === 'ExactCount') setDefault(wanted, 'count', 1)
}

function defaultClaim(spec: ValueObject): void {
  for (const request of objectsAt(objectAt(spec, 'devices'), 'requests')) {
    const exactly = objectOrNone(request, 'exactly')
    if (exactly !== undefined) defaultWanted(exactly)
    objectsAt(request, 'firstAvailable').forEach(defaultWanted)
  }
}

export const DEVICE_DEFAULTS: Readonly<Record<string, (object: ValueObject) => void>> = {
  'resource.k8s.io/v1 ResourceClaim': claim => defaultClaim(objectAt(claim, 'spec')),
  'resource.k8s.io/v1 ResourceClaimTemplate': template =>
    defaultClaim(objectAt(ensureObject(template, 'spec'), 'spec')),
}
