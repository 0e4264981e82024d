// Whether the holder of a Lease has stopped renewing it.
import type { ApiObject } from '../../meta/object/api-object.js'
import { numberOrNone, objectAt, stringAt } from '../../meta/values/access.js'

/** A Lease without a time or a duration is not one that a server wrote. */
export function hasExpired(lease: ApiObject, now: number): boolean {
  const spec = objectAt(lease, 'spec')
  const seconds = numberOrNone(spec, 'leaseDurationSeconds')
  const renewed = Date.parse(stringAt(spec, 'renewTime'))
  return seconds === undefined || Number.isNaN(renewed) || renewed + seconds * 1000 < now
}
