// `format`: printf-like formatting of lists of values, as in the first version of cel-go:
// `%f` groups digits, `%e` writes powers of ten out and knows no precision.
import { compareTexts, printFloat, quote } from '../../meta/go/go-text.js'
import { CelError } from '../cel-error.js'
import type { WorkBudget } from '../cost/work-budget.js'
import { printKey } from '../eval/operators.js'
import { type FormatClause, parseFormatClause } from '../values/format-clauses.js'
import { Duration, printTimestamp, Timestamp } from '../values/moments.js'
import { Double, isInt, Uint } from '../values/numbers.js'
import {
  isList,
  itemAt,
  itemsOf,
  type List,
  MapValue,
  sizeOfList,
  TypeValue,
  typeName,
  type Value,
} from '../values/values.js'
import { decodeUtf8, printDurationSeconds } from './conversions.js'

export function formatString(budget: WorkBudget, format: string, args: List): Value {
  let result = ''
  let next = 0
  for (let at = 0; at < format.length; at++) {
    const character = format[at]!
    if (character !== '%') {
      result += character
      continue
    }
    if (format[at + 1] === '%') {
      result += '%'
      at++
      continue
    }
    if (next >= sizeOfList(args)) return new CelError(`index ${next} out of range`)
    const clause = parseFormatClause(format, at)
    if ('error' in clause) return new CelError(clause.error)
    const text = formatOne(budget, clause, itemAt(args, next))
    if (typeof text !== 'string') return text
    // Its cost is 1, however much is written.
    budget.chargeWriting(text.length * 4)
    result += text
    next++
    at = clause.end - 1
  }
  return result
}

const DEFAULT_PRECISION = 6

const wrong = (rule: string, value: Value): CelError =>
  new CelError(`error during formatting: ${rule}, was given ${typeName(value)}`)

function formatOne(budget: WorkBudget, { verb, precision }: FormatClause, value: Value): string | CelError {
  switch (verb) {
    case 'd':
      return decimal(value) ?? wrong('decimal clause can only be used on integers', value)
    case 'f': {
      const number = asDouble(value)
      if (number === undefined) return wrong('fixed-point clause can only be used on doubles', value)
      budget.chargeWriting(precision ?? 0)
      return fixedPoint(number, precision ?? DEFAULT_PRECISION)
    }
    case 'e': {
      const number = asDouble(value)
      return number === undefined ? wrong('scientific clause can only be used on doubles', value) : scientific(number)
    }
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return inBase(value, 2) ?? wrong('only integers and bools can be formatted as binary', value)
    case 'o':
      return inBase(value, 8) ?? wrong('octal clause can only be used on integers', value)
    case 'x':
    case 'X': {
      const text = hex(value)
      if (text === undefined) {
        return wrong('only integers, byte buffers, and strings can be formatted as hex', value)
      }
      return verb === 'X' ? text.toUpperCase() : text
    }
    default:
      return formatText(budget, value)
  }
}

const decimal = (value: Value): string | undefined =>
  isInt(value) ? String(value) : value instanceof Uint ? String(value.value) : undefined

function inBase(value: Value, base: number): string | undefined {
  if (isInt(value)) return BigInt(value).toString(base)
  return value instanceof Uint ? value.value.toString(base) : undefined
}

function hex(value: Value): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : inBase(value, 16)
}

/** The names of numbers that are none may be given as strings. */
function asDouble(value: Value): number | undefined {
  if (value instanceof Double) return value.value
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? Number(value) : undefined
}

function fixedPoint(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞'
  const [whole = '', digits = ''] = exactFixed(value, precision).split('.')
  // The printer keeps the number of digits in eight bits: beyond, zeros at the end may be left out.
  const fraction = precision < 256 ? digits : digits.replace(/0+$/, '').padEnd(precision % 256, '0')
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',')
  return fraction === '' ? grouped : `${grouped}.${fraction}`
}

/** As many digits of the exact binary value as requested, halves to even. */
function exactFixed(value: number, precision: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  // A double has no more digits than these.
  const digits = Math.min(precision, 1074)
  const scaled = String(scaledToInteger(Math.abs(value), digits)).padStart(digits + 1, '0')
  if (precision === 0) return `${sign}${scaled}`
  return `${sign}${scaled.slice(0, -digits)}.${scaled.slice(-digits).padEnd(precision, '0')}`
}

/** value × 10^digits, halves to even. */
function scaledToInteger(value: number, digits: number): bigint {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  const raw = bits.getBigUint64(0)
  const exponent = Number(raw >> 52n)
  const mantissa = (raw & (2n ** 52n - 1n)) | (exponent === 0 ? 0n : 2n ** 52n)
  const power = Math.max(exponent, 1) - 1075
  const scaled = mantissa * 10n ** BigInt(digits)
  if (power >= 0) return scaled << BigInt(power)
  const whole = scaled >> BigInt(-power)
  const rest = scaled - (whole << BigInt(-power))
  const half = 1n << BigInt(-power - 1)
  return whole + (rest > half || (rest === half && whole % 2n === 1n) ? 1n : 0n)
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function scientific(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞'
  const [mantissa = '', exponent = ''] = value.toExponential(DEFAULT_PRECISION).split('e')
  const digits = exponent.slice(1).padStart(2, '0')
  const raised = Array.from(digits, digit => SUPERSCRIPTS[Number(digit)]).join('')
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`
}

/** `%s`. */
function formatText(budget: WorkBudget, value: Value): string | CelError {
  if (typeof value === 'string') return value
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof Double) return printFloat(value.value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDurationSeconds(value)
  if (value instanceof TypeValue) return value.type.name
  if (value instanceof Uint8Array) return textOfBytes(value)
  if (isList(value)) return formatList(budget, value)
  if (value instanceof MapValue) return formatMap(budget, value)
  return (
    decimal(value) ??
    wrong(
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
      value,
    )
  )
}

function textOfBytes(bytes: Uint8Array): string | CelError {
  const text = decodeUtf8(bytes)
  return typeof text === 'string'
    ? text
    : new CelError(`error during formatting: could not convert argument ${quote(text.message)} to string`)
}

function formatList(budget: WorkBudget, list: List): string | CelError {
  const parts: string[] = []
  for (const item of itemsOf(list, budget)) {
    const text = formatPart(budget, item)
    if (typeof text !== 'string') return text
    parts.push(text)
  }
  return `[${parts.join(', ')}]`
}

function formatMap(budget: WorkBudget, map: MapValue): string | CelError {
  const parts: [string, string][] = []
  for (const key of map.keys()) {
    const value = formatPart(budget, map.get(key)!)
    if (typeof value !== 'string') return value
    if (typeof key === 'object' && !(key instanceof Uint))
      return new CelError(`error during formatting: no formatting function for map key of type ${typeName(key)}`)
    parts.push([typeof key === 'string' ? quote(key) : printKey(key), value])
  }
  parts.sort(([a], [b]) => compareTexts(a, b))
  return `{${parts.map(([key, value]) => `${key}:${value}`).join(', ')}}`
}

const PART_WORK = 30

/** A value inside a list or map, as the expression that would give it. */
function formatPart(budget: WorkBudget, value: Value): string | CelError {
  budget.charge(PART_WORK)
  if (typeof value === 'string') {
    budget.chargeReading(value.length * 20)
    return quote(value)
  }
  if (value instanceof Uint8Array) {
    const text = textOfBytes(value)
    return typeof text === 'string' ? `b${quote(text)}` : text
  }
  if (value instanceof Timestamp) return `timestamp(${quote(printTimestamp(value))})`
  if (value instanceof Duration) return `duration(${quote(printDurationSeconds(value))})`
  if (value instanceof Double) {
    if (Number.isFinite(value.value)) return exactFixed(value.value, DEFAULT_PRECISION)
    return quote(printFloat(value.value))
  }
  const text = formatText(budget, value)
  return typeof text === 'string'
    ? text
    : new CelError(`error during formatting: no formatting function for ${typeName(value)}`)
}
