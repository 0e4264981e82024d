// The objects that functions get: copies, so that a function may change its own.

import type { ApiObject } from '../../meta/object/api-object.js'
import { copyValue, type Value, type ValueObject } from '../../meta/values/value.js'

/** `managedFields`, often half of an object, are copied when they are first read: nothing changes those of the server. */
export function copyForFunction(object: ApiObject): ApiObject {
  // The object of a CONNECT has no metadata.
  const metadata: ValueObject | undefined = object.metadata
  const managers = metadata?.['managedFields']
  if (!Array.isArray(managers)) return copyValue(object)
  const withoutManagers: ApiObject = { ...object, metadata: { ...metadata, managedFields: null } }
  const copy = copyValue(withoutManagers)
  whenRead(copy.metadata, 'managedFields', () => copyValue(managers))
  return copy
}

/** A member whose value is made when it is read. To JSON.stringify, spreads and the like it is a member as any other. */
function whenRead(object: ValueObject, name: string, make: () => Value): void {
  const define = (value: Value): void =>
    void Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  Object.defineProperty(object, name, {
    get() {
      const value = make()
      define(value)
      return value
    },
    set: define,
    enumerable: true,
    configurable: true,
  })
}
