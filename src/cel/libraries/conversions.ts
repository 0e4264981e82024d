// int(), uint(), double(), string(), bytes(), bool(), timestamp(), duration(), dyn() and type().
import { printFloat } from '../../meta/go/go-text.js'
import { CelError } from '../cel-error.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  typeOf,
  typeParam,
  UINT,
} from '../check/cel-type.js'
import { STRING_TRAVERSAL, scale, traversal } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Overload } from '../environment.js'
import {
  Duration,
  durationFromText,
  MAX_SECONDS,
  MIN_SECONDS,
  parseTimestamp,
  printTimestamp,
  TIMESTAMP_OVERFLOW,
  Timestamp,
} from '../values/moments.js'
import {
  Double,
  doubleToInt,
  doubleToUint,
  INT_OVERFLOW,
  type Int,
  intOf,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  UINT_OVERFLOW,
  Uint,
} from '../values/numbers.js'
import { TypeValue, typeOfValue, type Value } from '../values/values.js'

const A = typeParam('A')

/** A conversion from the text form fails with this where the text is not one. */
const unconvertible = (to: CelType): CelError => new CelError(`type conversion error from 'string' to '${to.name}'`)

const identity = (value: Value): Value => value

const from = (id: string, param: CelType, result: CelType, call: (value: never) => Value): Overload => ({
  id,
  params: [param],
  result,
  call: call as (value: Value) => Value,
})

export const CONVERSIONS: readonly FunctionDeclaration[] = [
  {
    name: 'bool',
    overloads: [
      from('bool_to_bool', BOOL, BOOL, identity),
      from('string_to_bool', STRING, BOOL, (text: string) => BOOLS.get(text) ?? unconvertible(BOOL)),
    ],
  },
  {
    name: 'bytes',
    overloads: [
      from('bytes_to_bytes', BYTES, BYTES, identity),
      {
        ...from('string_to_bytes', STRING, BYTES, (text: string) => new TextEncoder().encode(text)),
        cost: ([text], budget) => Math.ceil(budget.codePoints(text as string) * STRING_TRAVERSAL),
        estimate: ({ args: [arg] }) => ({
          cost: traversal(arg!.size),
          // A character takes at most four bytes.
          resultSize: { min: arg!.size.min, max: scale(arg!.size, 4).max },
        }),
      },
    ],
  },
  {
    name: 'double',
    overloads: [
      from('double_to_double', DOUBLE, DOUBLE, identity),
      from('int64_to_double', INT, DOUBLE, (value: Int) => new Double(Number(value))),
      from('string_to_double', STRING, DOUBLE, parseDouble),
      from('uint64_to_double', UINT, DOUBLE, ({ value }: Uint) => new Double(Number(value))),
    ],
  },
  {
    name: 'duration',
    overloads: [
      from('duration_to_duration', DURATION, DURATION, identity),
      from('int64_to_duration', INT, DURATION, (value: Int) => new Duration(BigInt(value))),
      from('string_to_duration', STRING, DURATION, (text: string) => durationFromText(text) ?? unconvertible(DURATION)),
    ],
  },
  { name: 'dyn', overloads: [from('to_dyn', A, DYN, identity)] },
  {
    name: 'int',
    overloads: [
      from('int64_to_int64', INT, INT, identity),
      from('double_to_int64', DOUBLE, INT, ({ value }: Double) => doubleToInt(value)),
      from('duration_to_int64', DURATION, INT, ({ nanos }: Duration) => intOf(nanos)),
      from('string_to_int64', STRING, INT, (text: string) => parseInteger(text, INT)),
      from('timestamp_to_int64', TIMESTAMP, INT, ({ seconds }: Timestamp) => seconds),
      from('uint64_to_int64', UINT, INT, ({ value }: Uint) => (value > MAX_INT ? INT_OVERFLOW : intOf(value))),
    ],
  },
  {
    name: 'string',
    overloads: [
      from('string_to_string', STRING, STRING, identity),
      from('bool_to_string', BOOL, STRING, String),
      {
        ...from('bytes_to_string', BYTES, STRING, decodeUtf8),
        cost: ([bytes]) => Math.ceil((bytes as Uint8Array).length * STRING_TRAVERSAL),
        estimate: ({ args: [arg] }) => ({
          cost: traversal(arg!.size),
          resultSize: { min: Math.floor(arg!.size.min / 4), max: arg!.size.max },
        }),
      },
      from('double_to_string', DOUBLE, STRING, ({ value }: Double) => printFloat(value)),
      from('duration_to_string', DURATION, STRING, printDurationSeconds),
      from('int64_to_string', INT, STRING, String),
      from('timestamp_to_string', TIMESTAMP, STRING, printTimestamp),
      from('uint64_to_string', UINT, STRING, ({ value }: Uint) => String(value)),
    ],
  },
  {
    name: 'timestamp',
    overloads: [
      from('timestamp_to_timestamp', TIMESTAMP, TIMESTAMP, identity),
      from('int64_to_timestamp', INT, TIMESTAMP, (seconds: Int) =>
        seconds < MIN_SECONDS || seconds > MAX_SECONDS ? TIMESTAMP_OVERFLOW : new Timestamp(Number(seconds), 0),
      ),
      from('string_to_timestamp', STRING, TIMESTAMP, (text: string) => {
        const time = parseTimestamp(text)
        if (time === undefined) return unconvertible(TIMESTAMP)
        return time.seconds < MIN_SECONDS || time.seconds > MAX_SECONDS ? TIMESTAMP_OVERFLOW : time
      }),
    ],
  },
  {
    name: 'type',
    overloads: [from('type', A, typeOf(A), (value: Value) => new TypeValue(typeOfValue(value)))],
  },
  {
    name: 'uint',
    overloads: [
      from('uint64_to_uint64', UINT, UINT, identity),
      from('double_to_uint64', DOUBLE, UINT, ({ value }: Double) => doubleToUint(value)),
      from('int64_to_uint64', INT, UINT, (value: Int) => (value < 0 ? UINT_OVERFLOW : new Uint(BigInt(value)))),
      from('string_to_uint64', STRING, UINT, (text: string) => {
        const value = parseInteger(text, UINT)
        return value instanceof CelError ? value : new Uint(BigInt(value))
      }),
    ],
  },
]

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map(text => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map(text => [text, false] as const),
])

function parseInteger(text: string, type: CelType): Int | CelError {
  const signed = type === INT
  if (!(signed ? /^[+-]?[0-9]+$/ : /^[0-9]+$/).test(text)) return unconvertible(type)
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > 20) return unconvertible(type)
  const size = BigInt(digits === '' ? '0' : digits)
  const value = text.startsWith('-') ? -size : size
  const fits = signed ? value <= MAX_INT && value >= MIN_INT : value <= MAX_UINT
  return fits ? intOf(value) : unconvertible(type)
}

/** Go's numbers: digits may be grouped by underscores, hexadecimal ones have a binary exponent. */
const DECIMAL = /^[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/
const HEXADECIMAL = /^([+-]?)0[xX]([0-9a-fA-F]+)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]{1,5})$/

function parseDouble(text: string): Value {
  const named = /^([+-]?)(inf|infinity)$|^nan$/i.exec(text)
  if (named) {
    return new Double(named[2] === undefined ? Number.NaN : named[1] === '-' ? -Infinity : Infinity)
  }
  const hexadecimal = HEXADECIMAL.exec(text)
  if (!hexadecimal && !DECIMAL.test(text)) return unconvertible(DOUBLE)
  const value = hexadecimal ? fromHexadecimal(hexadecimal) : Number(text.replaceAll('_', ''))
  return Number.isFinite(value) ? new Double(value) : unconvertible(DOUBLE)
}

function fromHexadecimal([, minus, whole = '', fraction = '', exponent]: RegExpExecArray): number {
  const size = Number(`0x${whole}${fraction}`) * 2 ** (Number(exponent) - 4 * fraction.length)
  return minus === '-' ? -size : size
}

export function decodeUtf8(bytes: Uint8Array): string | CelError {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** Seconds as a float64, whose digits are as many as it has. */
export function printDurationSeconds({ nanos }: Duration): string {
  const billion = 1_000_000_000n
  const seconds = Number(nanos / billion) + Number(nanos % billion) / 1e9
  return `${plainDecimal(seconds)}s`
}

/** A number without an exponent. */
export function plainDecimal(value: number): string {
  const text = String(value)
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!match) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const power = Number(exponent)
  const digits = whole + fraction
  const point = whole.length + power
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
