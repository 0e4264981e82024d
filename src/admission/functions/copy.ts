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

/** To JSON.stringify, spreads and the like it is a member as any other. */
function copyWhenRead(copy: ValueObject, managers: Value): void {
  Object.defineProperty(new WithManagers(copy, managers), 'managedFields', ACCESSOR)
}

/** A constructor that returns what it is given, so that a class adds its private member to that object. */
const Given = function (object: ValueObject) {
  return object
} as unknown as new (
  object: ValueObject,
) => object

/** Adds the managers of the server to an object as a private member: no program sees it, and it costs less than a property. */
class WithManagers extends Given {
  readonly #managers: Value
  constructor(object: ValueObject, managers: Value) {
    super(object)
    this.#managers = managers
  }
  static managersOf(object: object): Value {
    return (object as WithManagers).#managers
  }
}

/** The same functions for all objects, since V8 makes objects slow that have functions of their own for this. */
const ACCESSOR: PropertyDescriptor & ThisType<ValueObject> = {
  get() {
    const value = copyValue(WithManagers.managersOf(this))
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
