// The objects that functions get: copies, so that a function may change its own.

import type { ApiObject } from '../../meta/object/api-object.js'
import { copyValue, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'

/** `managedFields`, often half of an object, are copied when they are first read: nothing changes those of the server. */
export function copyForFunction(object: ApiObject): ApiObject {
  // The object of a CONNECT has no metadata.
  const metadata: ValueObject | undefined = object.metadata
  if (!Array.isArray(metadata?.['managedFields'])) return copyValue(object)
  const copy = { ...object }
  for (const name of Object.keys(copy)) {
    const member = copy[name]
    if (member === metadata) copy.metadata = copyMetadata(metadata)
    else if (typeof member === 'object' && member !== null) setOwn(copy, name, copyValue(member))
  }
  return copy
}

function copyMetadata(metadata: ValueObject): ValueObject {
  const copy: ValueObject = {}
  for (const name of Object.keys(metadata)) {
    const member = metadata[name]!
    if (name === 'managedFields') copyWhenRead(copy, member)
    else setOwn(copy, name, copyValue(member))
  }
  return copy
}

/** The managers of the server. */
const MANAGERS = Symbol('managers')

type WithManagers = ValueObject & { [MANAGERS]: Value }

/** To JSON.stringify, spreads and the like it is a member as any other. */
function copyWhenRead(copy: ValueObject, managers: Value): void {
  Object.defineProperty(copy, MANAGERS, { value: managers })
  Object.defineProperty(copy, 'managedFields', ACCESSOR)
}

/** The same functions for all objects, since V8 makes objects slow that have functions of their own for this. */
const ACCESSOR: PropertyDescriptor & ThisType<WithManagers> = {
  get() {
    const value = copyValue(this[MANAGERS])
    define(this, value)
    return value
  },
  set(value: Value) {
    define(this, value)
  },
  enumerable: true,
  configurable: true,
}

const define = (metadata: ValueObject, value: Value): void =>
  void Object.defineProperty(metadata, 'managedFields', { value, enumerable: true, configurable: true, writable: true })
