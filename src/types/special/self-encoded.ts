// The types that decode and print themselves, not by their fields: times, quantities, numbers or texts, raw JSON, and
// the schemas of CustomResourceDefinitions that may stand as a list or a boolean.
import { parseQuantity, printQuantity } from '../../meta/values/quantity.js'
import { parseMicroTime, parseTime } from '../../meta/values/time.js'
import { isInteger, isNumber, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import {
  type DecodeState,
  failMismatch,
  newDecodeState,
  noteError,
  spellNumber,
  TypedDecodeError,
} from '../go/decode-error.js'
import type { ValueCodec } from '../go/value-codec.js'

/** The codec of a type that has its own; `codecOf` gives those of the types within. */
export function selfEncoded(typeName: string, codecOf: (typeName: string) => ValueCodec): ValueCodec | undefined {
  switch (typeName) {
    case 'meta/v1.Time':
      return timeCodec(parseTime)
    case 'meta/v1.MicroTime':
      return timeCodec(parseMicroTime)
    case 'api/resource.Quantity':
      return { decode: decodeQuantity, ...printedAs('0') }
    case 'util/intstr.IntOrString':
      return { decode: decodeIntOrString, ...printedAs(0) }
    case 'runtime.RawExtension':
    case 'meta/v1.FieldsV1':
    case 'apiextensions/v1.JSON':
      return { decode: value => value, ...printedAs(null) }
    case 'apiextensions/v1.JSONSchemaPropsOrArray':
      return { decode: schemaOr(codecOf, decodeSchemas), ...printedAs(null) }
    case 'apiextensions/v1.JSONSchemaPropsOrStringArray':
      return { decode: schemaOr(codecOf, value => (Array.isArray(value) ? value : null)), ...printedAs(null) }
    case 'apiextensions/v1.JSONSchemaPropsOrBool':
      return { decode: schemaOr(codecOf, decodeBool), ...printedAs(false) }
    default:
      return undefined
  }
}

/** A struct to Go, so that it is printed even if nothing was set. */
const printedAs = (zero: Value): Omit<ValueCodec, 'decode'> => ({
  zero: () => zero,
  absent: () => zero,
  isEmpty: () => false,
  canBeOmitted: false,
})

const timeCodec = (parse: typeof parseTime): ValueCodec => ({
  decode: (value, state) => {
    if (typeof value !== 'string') return failMismatch(state, value, 'string')
    const time = parse(value)
    if (!time.ok) throw new TypedDecodeError(time.error)
    return time.value === ZERO_TIME || time.value === ZERO_MICRO_TIME ? null : time.value
  },
  ...printedAs(null),
  isEmpty: value => value === null,
})

/** Go's zero time prints as null. */
const ZERO_TIME = '0001-01-01T00:00:00Z'
const ZERO_MICRO_TIME = '0001-01-01T00:00:00.000000Z'

/** Whatever is not a number or a text has no chance to match what quantities look like, and is told so. */
function decodeQuantity(value: Value, state: DecodeState): Value {
  // JSON has numbers for quantities, CBOR has not.
  if (state.cbor !== undefined && typeof value !== 'string') return failMismatch(state, value, 'string')
  const text = typeof value === 'string' ? value.trim() : isNumber(value) ? spellNumber(value) : '{}'
  const quantity = parseQuantity(text)
  if (!quantity.ok) throw new TypedDecodeError(quantity.error)
  return printQuantity(quantity.value)
}

function decodeIntOrString(value: Value, state: DecodeState): Value {
  if (typeof value === 'string') return value
  if (isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31) return value
  return failMismatch(state, value, 'int32', 'integer')
}

// ---- schemas within schemas

type Inner = (value: Value, schema: ValueCodec, state: DecodeState) => Value

/** Reads an object as a schema, anything else as the alternative. */
function schemaOr(codecOf: (typeName: string) => ValueCodec, alternative: Inner): ValueCodec['decode'] {
  return (value, state) => {
    const schema = codecOf('apiextensions/v1.JSONSchemaProps')
    return isObject(value) ? decodeApart(value, schema, state) : alternative(value, schema, state)
  }
}

const decodeSchemas: Inner = (value, schema, state) =>
  Array.isArray(value) ? value.map(item => (item === null ? schema.zero() : decodeApart(item, schema, state))) : null

const decodeBool: Inner = value => {
  if (typeof value === 'boolean') return value
  throw new TypedDecodeError('boolean or JSON schema expected')
}

/** A decoder of its own, as Go starts one: it reports no unknown fields, and its faults are told from its own root. */
function decodeApart(value: Value, schema: ValueCodec, state: DecodeState): ValueObject {
  const inner = newDecodeState(undefined, state.depth)
  const decoded = schema.decode(value, inner) as ValueObject
  const { error: fault } = inner
  if (fault !== undefined) {
    const told =
      typeof fault === 'string'
        ? fault
        : { ...fault, struct: state.struct, field: [...state.goPath, fault.field].join('.') }
    noteError(state, told)
  }
  return decoded
}
