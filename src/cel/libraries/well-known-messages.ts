// The messages of protobuf itself that expressions can make: `google.protobuf.Timestamp{seconds: 1}`. Each becomes a plain
// value at once: a wrapper its number or text, a Struct a map, a Value what it holds.
import { CelError, isError } from '../cel-error.js'
import {
  ANY,
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  INT,
  listOf,
  mapOf,
  runtimeTypeName,
  STRING,
  UINT,
  wrapperOf,
} from '../check/cel-type.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { ObjectTypes } from '../environment.js'
import { Duration, EPOCH, laterBy } from '../values/moments.js'
import { Double, type Int, MAX_INT, MIN_INT, Uint } from '../values/numbers.js'
import { mapFrom, typeOfValue, type Value } from '../values/values.js'
import { EmptyMessage, type Native, readList, readMap, readNative } from './native-values.js'

interface Message {
  readonly fields: Readonly<Record<string, Field>>
  /** From the fields that are set, in the order of the expression. */
  make(fields: ReadonlyMap<string, Value>): Value
}

interface Field {
  readonly type: CelType
  readonly native: Native | 'values' | 'map of values'
}

const field = (type: CelType, native: Field['native']): Field => ({ type, native })

/** A message with one field, which stands for that field's value. */
const holder = (valueName: string, type: CelType, native: Field['native'], zero: Value): Message => ({
  fields: { [valueName]: field(type, native) },
  make: fields => fields.get(valueName) ?? zero,
})

/** Seconds and nanoseconds together, as nanoseconds. */
const TIME_FIELDS = { seconds: field(INT, 'int64'), nanos: field(INT, 'int32') }
const partOf = (fields: ReadonlyMap<string, Value>, name: string): bigint => BigInt((fields.get(name) as Int) ?? 0)
const BILLION = 1_000_000_000n

const TIMESTAMP_MESSAGE: Message = {
  fields: TIME_FIELDS,
  make: fields => laterBy(EPOCH, partOf(fields, 'seconds') * BILLION + partOf(fields, 'nanos')),
}

const DURATION_MESSAGE: Message = {
  fields: TIME_FIELDS,
  make(fields) {
    const seconds = partOf(fields, 'seconds') * BILLION
    // A number of seconds that is too large alone is not made smaller by the nanoseconds.
    return new Duration(within(seconds === within(seconds) ? seconds + partOf(fields, 'nanos') : seconds))
  },
}

const within = (nanos: bigint): bigint => (nanos > MAX_INT ? MAX_INT : nanos < MIN_INT ? MIN_INT : nanos)

const VALUE_MESSAGE: Message = {
  fields: {
    null_value: field(INT, 'protoreflect.EnumNumber'),
    number_value: field(DOUBLE, 'float64'),
    string_value: field(STRING, 'string'),
    bool_value: field(BOOL, 'bool'),
    struct_value: field(mapOf(STRING, DYN), '*structpb.Struct'),
    list_value: field(listOf(DYN), '*structpb.ListValue'),
  },
  make(fields) {
    // Only one of the fields can be set: the last one.
    const [name, value] = [...fields].at(-1) ?? ['null_value', null]
    return name === 'null_value' ? null : value
  },
}

const MESSAGES: Readonly<Record<string, Message>> = {
  'google.protobuf.Timestamp': TIMESTAMP_MESSAGE,
  'google.protobuf.Duration': DURATION_MESSAGE,
  'google.protobuf.BoolValue': holder('value', BOOL, 'bool', false),
  'google.protobuf.BytesValue': holder('value', BYTES, '[]uint8', new Uint8Array()),
  'google.protobuf.DoubleValue': holder('value', DOUBLE, 'float64', new Double(0)),
  'google.protobuf.FloatValue': holder('value', DOUBLE, 'float32', new Double(0)),
  'google.protobuf.Int32Value': holder('value', INT, 'int32', 0),
  'google.protobuf.Int64Value': holder('value', INT, 'int64', 0),
  'google.protobuf.StringValue': holder('value', STRING, 'string', ''),
  'google.protobuf.UInt32Value': holder('value', UINT, 'uint32', new Uint(0n)),
  'google.protobuf.UInt64Value': holder('value', UINT, 'uint64', new Uint(0n)),
  'google.protobuf.ListValue': holder('values', listOf(DYN), 'values', []),
  'google.protobuf.Struct': holder('fields', mapOf(STRING, DYN), 'map of values', mapFrom([])),
  'google.protobuf.Value': VALUE_MESSAGE,
  'google.protobuf.Empty': { fields: {}, make: () => new EmptyMessage() },
}

const messageOf = (name: string): Message | undefined => (Object.hasOwn(MESSAGES, name) ? MESSAGES[name] : undefined)

export const WELL_KNOWN_MESSAGES: Required<ObjectTypes> = {
  has: name => messageOf(name) !== undefined,
  field(name, fieldName) {
    const fields = messageOf(name)?.fields ?? {}
    return Object.hasOwn(fields, fieldName) ? fields[fieldName]!.type : undefined
  },
  create(name, given, budget) {
    const message = messageOf(name)!
    const fields = new Map<string, Value>()
    for (const [fieldName, value] of given) {
      const read = readField(`${name}.${fieldName}`, message.fields[fieldName]!, value, budget)
      if (isError(read)) return read
      fields.set(fieldName, read)
    }
    return message.make(fields)
  },
}

function readField(path: string, { native }: Field, value: Value, budget: WorkBudget): Value {
  let read: Value | undefined
  if (native === 'values') read = readList(value, budget)
  else if (native === 'map of values') read = readMap(value, budget)
  else read = readNative(value, native, budget)
  if (read === undefined) return new CelError(`unsupported field type for ${path}: ${nameOf(value)}`)
  return isError(read) ? new CelError(`field type conversion error for ${path} value type: ${read.message}`) : read
}

const nameOf = (value: Value): string => {
  const type = typeOfValue(value)
  return type.kind === 'opaque' ? type.name : runtimeTypeName(type)
}

/** The constant of the enumeration NullValue. */
export const NULL_VALUE = { 'google.protobuf.NullValue.NULL_VALUE': { type: INT, value: 0 } }

/** Messages whose names are no values. Most can be made, though. */
export const MESSAGE_NAMES: Readonly<Record<string, CelType>> = {
  'google.protobuf.Any': ANY,
  'google.protobuf.BoolValue': wrapperOf(BOOL),
  'google.protobuf.BytesValue': wrapperOf(BYTES),
  'google.protobuf.DoubleValue': wrapperOf(DOUBLE),
  'google.protobuf.FloatValue': wrapperOf(DOUBLE),
  'google.protobuf.Int32Value': wrapperOf(INT),
  'google.protobuf.Int64Value': wrapperOf(INT),
  'google.protobuf.ListValue': listOf(DYN),
  'google.protobuf.StringValue': wrapperOf(STRING),
  'google.protobuf.Struct': mapOf(STRING, DYN),
  'google.protobuf.UInt32Value': wrapperOf(UINT),
  'google.protobuf.UInt64Value': wrapperOf(UINT),
  'google.protobuf.Value': DYN,
}
