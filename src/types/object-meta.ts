// The metadata of objects whose type Go does not know, such as custom objects and embedded resources: Kubernetes reads
// them as a map, encodes that again, and decodes the result as ObjectMeta.
import { once } from '../base/memo.js'
import { failed, parsed, type Result } from '../base/result.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { decodeTyped, TypedDecodeError } from './go/decode.js'
import { builtinTypes } from './type-table.js'

export interface DecodedMeta {
  readonly value: ValueObject
  /** The paths of unknown fields: `metadata.labls`. */
  readonly unknown: readonly string[]
}

// ObjectMeta is the same on every server, so that one type serves all of them.
const objectMeta = once(() => builtinTypes().byName('meta/v1.ObjectMeta'))

/** Unknown fields are left out and named; paths in errors begin at the metadata. */
export function decodeObjectMeta(value: Value): Result<DecodedMeta> {
  try {
    const decoded = decodeTyped(objectMeta(), value, { isReencoded: true })
    return parsed({ value: decoded.value, unknown: decoded.unknown.map(path => `metadata.${path}`) })
  } catch (error) {
    if (error instanceof TypedDecodeError) return failed(error.message)
    throw error
  }
}

/** For metadata from storage: fields of a wrong type are dropped, each on its own. */
export function decodeStoredObjectMeta(value: Value): Result<DecodedMeta> {
  const complete = decodeObjectMeta(value)
  if (complete.ok || !isObject(value)) return complete
  const fitting = Object.entries(value).filter(([key, member]) => decodeObjectMeta({ [key]: member }).ok)
  return decodeObjectMeta(Object.fromEntries(fitting))
}
