// Values as the fields of a protobuf message hold them, in Go's words where they do not fit.
import { CelError, isError } from '../cel-error.js'
import { objectType, typeOf } from '../check/cel-type.js'
import type { WorkBudget } from '../cost/work-budget.js'
import { Duration, printSeconds, printTimestamp, Timestamp } from '../values/moments.js'
import { Double, INT_OVERFLOW, isInt, UINT_OVERFLOW, Uint } from '../values/numbers.js'
import {
  CelMap,
  isList,
  itemsOf,
  type List,
  MapValue,
  ObjectValue,
  OptionalValue,
  sizeOfList,
  TypeValue,
  typeName,
  type Value,
} from '../values/values.js'

/** Go's names of the types of fields. */
export type Native =
  | 'bool'
  | '[]uint8'
  | 'float32'
  | 'float64'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'string'
  | 'protoreflect.EnumNumber'
  | '*structpb.ListValue'
  | '*structpb.Struct'
  | '*structpb.Value'

/** A message without fields. */
export class EmptyMessage extends ObjectValue {
  readonly type = objectType('google.protobuf.Empty')
  get(): undefined {
    return undefined
  }
  equals(other: Value): boolean {
    return other instanceof EmptyMessage
  }
  override isZero(): boolean {
    return true
  }
}

/** What a field of that type holds when it is set to a value, as a value again. */
export function readNative(value: Value, native: Native, budget: WorkBudget): Value {
  if (isError(value)) return value
  if (value instanceof OptionalValue) {
    return value.value === undefined ? NONE_DEREFERENCED : readNative(value.value, native, budget)
  }
  switch (native) {
    case 'bool':
      return typeof value === 'boolean' ? value : unfit(value, native)
    case 'string':
      return typeof value === 'string' ? value : unfit(value, native)
    case '[]uint8':
      return value instanceof Uint8Array ? value : isList(value) ? bytesOf(value, budget) : unfit(value, native)
    case 'float64':
      return value instanceof Double ? value : unfit(value, native)
    case 'float32':
      return value instanceof Double ? new Double(Math.fround(value.value)) : unfit(value, native)
    case 'int64':
      return isInt(value) ? value : unfit(value, native)
    case 'int32':
    case 'protoreflect.EnumNumber':
      if (!isInt(value)) return unfit(value, native)
      return value >= -(2 ** 31) && value < 2 ** 31 ? value : INT_OVERFLOW
    case 'uint64':
      return value instanceof Uint ? value : unfit(value, native)
    case 'uint32':
      if (!(value instanceof Uint)) return unfit(value, native)
      return value.value < 2n ** 32n ? value : UINT_OVERFLOW
    case '*structpb.ListValue':
      // Go makes a structure of a map, too, of which only the empty one fits.
      if (value instanceof MapValue && value.size === 0) return []
      return (isList(value) ? readList(value, budget) : undefined) ?? unfit(value, native)
    case '*structpb.Struct':
      return (value instanceof MapValue ? readMap(value, budget) : undefined) ?? unfit(value, native)
    case '*structpb.Value':
      return jsonOf(value, budget)
  }
}

/** The items as JSON has them; undefined for what is no list. */
export function readList(value: Value, budget: WorkBudget): Value | undefined {
  if (!isList(value)) return undefined
  const items: Value[] = []
  for (const item of itemsOf(value, budget)) {
    const read = readNative(item, '*structpb.Value', budget)
    if (isError(read)) return read
    items.push(read)
  }
  return items
}

/** The entries as JSON has them; undefined for what is no map. */
export function readMap(value: Value, budget: WorkBudget): Value | undefined {
  if (!(value instanceof MapValue)) return undefined
  const entries = new CelMap()
  budget.charge(value.size)
  for (const key of value.keys()) {
    if (typeof key !== 'string') return unfit(key, 'string')
    const read = readNative(value.get(key)!, '*structpb.Value', budget)
    if (isError(read)) return read
    entries.set(key, read)
  }
  return entries
}

/** All numbers are doubles in JSON. Ints that a double cannot hold become texts. */
function jsonOf(value: Value, budget: WorkBudget): Value {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (isInt(value)) return typeof value === 'number' ? new Double(value) : String(value)
  if (value instanceof Double) return value
  if (value instanceof Uint) {
    return value.value <= Number.MAX_SAFE_INTEGER ? new Double(Number(value.value)) : String(value.value)
  }
  if (value instanceof Uint8Array) {
    budget.chargeReading(value.length)
    return Buffer.from(value).toString('base64')
  }
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printSeconds(value)
  if (value instanceof EmptyMessage) return new CelMap()
  return readList(value, budget) ?? readMap(value, budget) ?? unfit(value, '*structpb.Value')
}

function bytesOf(list: List, budget: WorkBudget): Value {
  budget.charge(sizeOfList(list))
  const bytes: number[] = []
  for (const item of itemsOf(list, budget)) {
    if (!(item instanceof Uint)) return unfit(item, 'uint8')
    if (item.value > 255n) return UINT_OVERFLOW
    bytes.push(Number(item.value))
  }
  return new Uint8Array(bytes)
}

const NONE_DEREFERENCED = new CelError('optional.none() dereference')

/** Each type has its own words for it. */
function unfit(value: Value, native: Native | 'uint8'): CelError {
  if (isError(value)) return value
  if (isInt(value)) return new CelError(`unsupported type conversion from 'int' to ${native}`)
  if (value instanceof Uint) return new CelError(`unsupported type conversion from 'uint' to ${native}`)
  if (typeof value === 'string') return new CelError(`unsupported native conversion from string to '${native}'`)
  if (value instanceof TypeValue) return new CelError(`type conversion not supported for '${typeOf(value.type).name}'`)
  if (value instanceof EmptyMessage && native === '*structpb.Struct') {
    const both = 'google.protobuf.Struct, google.protobuf.Empty'
    return new CelError(`type conversion error: pb.Merge() arguments must be the same type. got: ${both}`)
  }
  if (value instanceof MapValue && native === '*structpb.ListValue') {
    const [key] = value.keys()
    return new CelError(
      `type conversion error, no such field '${typeof key === 'string' ? key : typeName(key ?? null)}' in type 'structpb.ListValue'`,
    )
  }
  return new CelError(`type conversion error from ${shownName(value)} to '${native}'`)
}

function shownName(value: Value): string {
  if (value === null) return "'null_type'"
  if (typeof value === 'boolean') return 'bool'
  if (value instanceof Double) return 'Double'
  if (value instanceof Uint8Array) return 'Bytes'
  if (isList(value)) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof EmptyMessage) return "'*dynamicpb.Message'"
  const name = typeName(value).split('.').at(-1)!
  return name === 'NamedFormat' ? "'Format'" : `'${name}'`
}
