// `format`: printf-like formatting of lists of values, as in the first version of cel-go:
// `%f` groups digits, `%e` writes powers of ten out and knows no precision.
import { compareTexts, printFloat, quote } from '../../meta/go/go-text.js'
import { CelError } from '../cel-error.js'
import type { WorkBudget } from '../cost/work-budget.js'
import { printKey } from '../eval/operators.js'
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
import { printDurationSeconds } from './conversions.js'

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
    const clause = /^%(?:\.([0-9]*))?([\s\S]?)/.exec(format.slice(at, at + 40))!
    if (clause[2] === '') return new CelError('unexpected end of string')
    if (next >= sizeOfList(args)) return new CelError(`index ${next} out of range`)
    const precision = clause[1] === undefined ? undefined : Number(clause[1])
    if (Number(precision) > MAX_PRECISION)
      return new CelError(`precision ${precision} exceeds the most of ${MAX_PRECISION}`)
    const text = formatOne(budget, clause[2]!, precision, itemAt(args, next))
    if (typeof text !== 'string') return text
    // Its cost is 1, however much is written.
    budget.chargeWriting(text.length * 4)
    result += text
    next++
    at += clause[0].length - 1
  }
  return result
}

const DEFAULT_PRECISION = 6
/** No double has more digits behind the point that mean anything. */
const MAX_PRECISION = 100

const wrong = (rule: string, value: Value): CelError =>
  new CelError(`error during formatting: ${rule}, was given ${typeName(value)}`)

function formatOne(budget: WorkBudget, verb: string, precision: number | undefined, value: Value): string | CelError {
  switch (verb) {
    case 's':
      return formatText(budget, value)
    case 'd':
      return decimal(value) ?? wrong('decimal clause can only be used on integers', value)
    case 'f': {
      const number = asDouble(value)
      if (number === undefined) return wrong('fixed-point clause can only be used on doubles', value)
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
      return new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
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
  const [whole = '', fraction] = exactFixed(value, precision).split('.')
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** As many digits of the exact binary value as requested, halves to even. */
function exactFixed(value: number, precision: number): string {
  if (precision === 0) {
    const floor = Math.floor(Math.abs(value))
    const rest = Math.abs(value) - floor
    const up = rest > 0.5 || (rest === 0.5 && floor % 2 === 1)
    return `${value < 0 || Object.is(value, -0) ? '-' : ''}${BigInt(floor + (up ? 1 : 0))}`
  }
  if (Math.abs(value) < 1e21) return `${Object.is(value, -0) ? '-' : ''}${value.toFixed(precision)}`
  return `${BigInt(value)}.${'0'.repeat(precision)}`
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
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
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
  if (value instanceof Uint8Array) return `b${quote(Buffer.from(value).toString('utf8'))}`
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
