// What a ServiceCIDR says of the addresses of services: its ranges, and whether new addresses may be of them.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type AddressRange, parseAddressRange } from '../core/service/address-range.js'

/** Those that kube-apiserver takes addresses from: it ignores IPv6 ranges of more than 64 bits. */
export const rangesOf = (object: ApiObject): readonly AddressRange[] =>
  stringsAt(objectAt(object, 'spec'), 'cidrs')
    .map(parseAddressRange)
    .filter(range => range !== undefined)

export const readyCondition = (object: ApiObject): ValueObject | undefined =>
  objectsAt(objectAt(object, 'status'), 'conditions').find(condition => stringAt(condition, 'type') === 'Ready')

/** Without the condition it is ready, too: the controller that writes it may not run. */
export function isReadyServiceCidr(object: ApiObject): boolean {
  if (metaOf(object).deletionTimestamp !== undefined) return false
  const ready = readyCondition(object)
  return ready === undefined || stringAt(ready, 'status') === 'True'
}
