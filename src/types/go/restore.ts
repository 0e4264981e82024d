// A value restored as a Go type by Kubernetes' converter of unstructured objects, which the result of a strategic merge
// patch goes through. It accepts more numbers than the JSON decoder (1.0 is an integer, and integers that are too large
// are cut), walks fields in the order of the struct, stops at the first error, and has messages of its own.
import { decodeJson, encodeJson } from '../../codec/json.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { canonicalBase64 } from '../../meta/values/base64.js'
import { isInteger, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import type { Field, Type } from '../type.js'
import { decodeTyped } from './decode.js'
import { TypedDecodeError } from './decode-error.js'
import { goNameOf, goNameOfField } from './go-names.js'

/** The value in the form that the decoder of the type accepts. Throws a TypedDecodeError if it cannot be restored. */
export const restoreTyped = (type: Type, value: Value): Value => restore(type, value, goNameOf(type))

function restore(type: Type, value: Value, goName: string): Value {
  if (value === null) return null
  switch (type.kind) {
    case 'object':
      return restoreStruct(type, value)
    case 'map':
      return restoreMap(type.element!, value)
    case 'list':
      if (!Array.isArray(value)) throw new TypedDecodeError(`cannot restore slice from ${goKindOf(value)}`)
      return value.map(item => restore(type.element!, item, goName.replace(/^\[\]/, '')))
    case 'bytes':
      return restoreBytes(value)
    case 'special':
      // These have decoders of their own, which read the value as JSON with its members by name.
      decodeTyped(type, value)
      return typeof value === 'object' ? inOrder(value) : value
    case 'any':
      return value
    default:
      return restoreScalar(type.kind, value, goName)
  }
}

/** Most values are in order already. To print and parse a large one takes long. */
const inOrder = (value: Value): Value =>
  isInOrder(value) ? value : decodeJson(Buffer.from(encodeJson(value, { sortKeys: true }))).value

function isInOrder(root: Value): boolean {
  const pending: Value[] = [root]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    // Printed and parsed, it becomes another number.
    if (value instanceof WholeFloat) return false
    if (Array.isArray(value)) for (const item of value) pending.push(item)
    else if (isObject(value)) {
      let before = ''
      for (const key of Object.keys(value)) {
        // JavaScript has whole numbers before other names, whatever the order in which they are set.
        if (!isIndex(key)) {
          if (compareTexts(before, key) > 0) return false
          before = key
        }
        pending.push(value[key]!)
      }
    }
  }
  return true
}

const isIndex = (key: string): boolean => String(Number(key) >>> 0) === key

function restoreStruct({ fields }: Type, value: Value): Value {
  if (!isObject(value)) throw new TypedDecodeError(`cannot restore struct from: ${goKindOf(value)}`)
  const restored: ValueObject = { ...value }
  for (const field of fields.values()) {
    const member = value[field.name]
    if (member !== undefined) restored[field.name] = restore(field.type, member, goNameOfMember(field))
  }
  return restored
}

const goNameOfMember = ({ type, go, name }: Field): string =>
  type.name === '' ? goNameOfField(type, go!.declaredBy, name) : goNameOf(type)

function restoreMap(element: Type, value: Value): Value {
  if (!isObject(value)) throw new TypedDecodeError(`cannot restore map from ${goKindOf(value)}`)
  const restored: ValueObject = {}
  for (const [key, member] of Object.entries(value)) setOwn(restored, key, restore(element, member, goNameOf(element)))
  return restored
}

function restoreBytes(value: Value): Value {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') throw new TypedDecodeError(`cannot restore slice from ${goKindOf(value)}`)
  const read = canonicalBase64(value)
  if (!read.ok) throw new TypedDecodeError(`error decoding from json: ${read.error}`)
  return value
}

const BITS: Readonly<Record<string, number>> = { int32: 32, int64: 64 }

function restoreScalar(kind: string, value: Value, goName: string): Value {
  const from = goKindOf(value)
  const bits = BITS[kind]
  if (from === kind || (kind === 'float64' && from === 'int64')) return value
  if (bits !== undefined && isInteger(value)) return cutInteger(bits, BigInt(value))
  if (bits !== undefined && value instanceof WholeFloat) return cutInteger(bits, integerOf(value.value))
  // In Go, integers are convertible to strings and floats to integers, but not here; others are not convertible at all.
  const isConvertible = (from === 'int64' && kind === 'string') || (from === 'float64' && bits !== undefined)
  throw new TypedDecodeError(isConvertible ? `cannot convert ${from} to ${goName}` : `unrecognized type: ${kind}`)
}

/** The lowest bits, as Go converts between integers. */
function cutInteger(bits: number, integer: bigint): number | bigint {
  const cut = BigInt.asIntN(bits, integer)
  return Number.isSafeInteger(Number(cut)) ? Number(cut) : cut
}

const MIN_INT64 = -(2n ** 63n)

/** As amd64 converts a float64 to an int64: one that does not fit becomes the lowest number. */
function integerOf(float: number): bigint {
  const integer = BigInt(float)
  return BigInt.asIntN(64, integer) === integer ? integer : MIN_INT64
}

/** What Go decodes the value as when no type is known. */
function goKindOf(value: Value): string {
  if (Array.isArray(value)) return 'slice'
  if (isObject(value)) return 'map'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return isInteger(value) ? 'int64' : 'float64'
}
