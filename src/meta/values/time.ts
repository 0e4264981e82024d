// Times and durations of the API: RFC 3339 in seconds (Time) or microseconds (MicroTime), and Go durations (`1h30m`).
// Errors are those of Go's time package.

import { failed, parsed, type Result } from '../../base/result.js'
import { quoteTime } from '../go/go-text.js'

/** A Time: UTC, truncated to seconds. */
export function printTime(millis: number): string {
  const second = Math.floor(millis / 1000)
  // A busy server prints the same second hundreds of times.
  if (second !== lastSecond) {
    lastTime = `${new Date(millis).toISOString().slice(0, 19)}Z`
    lastSecond = second
  }
  return lastTime
}

let lastSecond = Number.NaN
let lastTime = ''

/** A moment as a MicroTime. */
export const printMicroTime = (millis: number): string => `${new Date(millis).toISOString().slice(0, 23)}000Z`

/** Parses a Time and returns it as stored: in UTC, in seconds. */
export const parseTime = (text: string): Result<string> =>
  KEPT_TIME.test(text) ? parsed(text) : parseMoment(text, TIME_LAYOUT, false)

/** A Time as stored, the most frequent format: a valid date and second in UTC. */
const KEPT_TIME =
  /^[12]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** Parses a MicroTime, which always has six decimals. */
export const parseMicroTime = (text: string): Result<string> => parseMoment(text, MICRO_TIME_LAYOUT, true)

/** Milliseconds since 1970 of a Time or MicroTime that was parsed before. */
export const millisOf = (time: string): number => Date.parse(time)

const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00'
const MICRO_TIME_LAYOUT = '2006-01-02T15:04:05.000000Z07:00'

/** The parts of both layouts in order: the text in the layout, the pattern, and the bounds. */
const PARTS: readonly {
  readonly layout: string
  readonly form: RegExp
  readonly max?: number
  readonly name?: string
}[] = [
  { layout: '2006', form: /^[0-9]{4}/ },
  { layout: '-', form: /^-/ },
  { layout: '01', form: /^[0-9]{2}/, max: 12, name: 'month' },
  { layout: '-', form: /^-/ },
  { layout: '02', form: /^[0-9]{2}/ },
  { layout: 'T', form: /^T/ },
  { layout: '15', form: /^[0-9]{1,2}/, max: 23, name: 'hour' },
  { layout: ':', form: /^:/ },
  { layout: '04', form: /^[0-9]{2}/, max: 59, name: 'minute' },
  { layout: ':', form: /^:/ },
  { layout: '05', form: /^[0-9]{2}/, max: 59, name: 'second' },
]

/** Go's time.Parse for the two layouts: reports the first part that does not match. */
function parseMoment(text: string, layout: string, micro: boolean): Result<string> {
  const error = (rest: string, part: string): Result<never> =>
    failed(`parsing time ${quoteTime(text)} as "${layout}": cannot parse ${quoteTime(rest)} as "${part}"`)
  const outOfRange = (what: string): Result<never> => failed(`parsing time ${quoteTime(text)}: ${what} out of range`)

  let rest = text
  const read: number[] = []
  for (const part of PARTS) {
    const found = part.form.exec(rest)?.[0]
    if (found === undefined) return error(rest, part.layout)
    const value = Number(found)
    if (part.max !== undefined && (value > part.max || (part.name === 'month' && value === 0))) {
      return outOfRange(part.name!)
    }
    if (!Number.isNaN(value)) read.push(value)
    rest = rest.slice(found.length)
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = read

  // A Time may have any fraction, which is truncated; a MicroTime must have exactly six decimals.
  const fraction = (micro ? /^\.[0-9]{6}/ : /^[.,][0-9]+/).exec(rest)?.[0] ?? ''
  if (micro && fraction === '') return error(rest, '.000000')
  rest = rest.slice(fraction.length)

  const zone = /^(?:Z|[+-][0-9]{2}:[0-9]{2})/.exec(rest)?.[0]
  if (zone === undefined) return error(rest, 'Z07:00')
  rest = rest.slice(zone.length)
  const zoneHours = Number(zone.slice(1, 3))
  const zoneMinutes = Number(zone.slice(4, 6))
  if (zoneHours > 24) return outOfRange('time zone offset hour')
  if (zoneMinutes > 60) return outOfRange('time zone offset minute')
  if (rest !== '') return failed(`parsing time ${quoteTime(text)}: extra text: ${quoteTime(rest)}`)

  if (day < 1 || day > daysIn(year, month)) return outOfRange('day')
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const offset = zone === 'Z' ? 0 : (zone.startsWith('-') ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  const utc = new Date(date.getTime() - offset * 60_000).toISOString()
  // RFC 3339 has only the years 0 to 9999; Go refuses to format others.
  if (utc.length !== 24) return outOfRange('year')
  return parsed(`${utc.slice(0, 19)}${micro ? fraction : ''}Z`)
}

const daysIn = (year: number, month: number): number => {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

// ---- durations

/** The nanoseconds of a duration such as `300ms`, `-1.5h` or `2h45m`. */
export function parseDuration(text: string): Result<bigint> {
  const invalid = failed(`time: invalid duration ${quoteTime(text)}`)
  const negative = text.startsWith('-')
  let rest = negative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return parsed(0n)
  if (rest === '') return invalid
  let total = 0n
  while (rest !== '') {
    const [number = '', whole = '', fraction = ''] = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest) ?? []
    if (whole === '' && fraction === '') return invalid
    rest = rest.slice(number.length)
    const unit = /^[^0-9.]*/.exec(rest)?.[0] ?? ''
    if (unit === '') return failed(`time: missing unit in duration ${quoteTime(text)}`)
    const nanos = UNITS[unit]
    if (nanos === undefined) return failed(`time: unknown unit ${quoteTime(unit)} in duration ${quoteTime(text)}`)
    rest = rest.slice(unit.length)
    // More digits than an int64 can hold are out of range; of a fraction only the first digits count.
    const digits = whole.replace(/^0+/, '')
    if (digits.length > 19) return invalid
    const part = fraction.slice(0, 18)
    total += BigInt(digits || '0') * nanos + (BigInt(part || '0') * nanos) / 10n ** BigInt(part.length)
    if (total > MAX_DURATION + (negative ? 1n : 0n)) return invalid
  }
  return parsed(negative ? -total : total)
}

/** A duration as Go prints it: `1h30m0s`, `1.5s`, `20ms`. */
export function printDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  if (nanos < 0n) return `-${printDuration(-nanos)}`
  if (nanos < 1_000n) return `${nanos}ns`
  if (nanos < 1_000_000n) return `${withFraction(nanos, 1_000n)}µs`
  if (nanos < 1_000_000_000n) return `${withFraction(nanos, 1_000_000n)}ms`
  const minutes = nanos / 60_000_000_000n
  const seconds = `${withFraction(nanos % 60_000_000_000n, 1_000_000_000n)}s`
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

function withFraction(nanos: bigint, unit: bigint): string {
  const fraction = String(nanos % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(nanos / unit) : `${nanos / unit}.${fraction}`
}

const MAX_DURATION = 2n ** 63n - 1n

const UNITS: Readonly<Record<string, bigint | undefined>> = Object.assign(
  Object.create(null) as Record<string, bigint>,
  {
    ns: 1n,
    us: 1_000n,
    µs: 1_000n,
    μs: 1_000n,
    ms: 1_000_000n,
    s: 1_000_000_000n,
    m: 60_000_000_000n,
    h: 3_600_000_000_000n,
  },
)

// ---- ages

/** A duration in milliseconds as kubectl prints ages: `45s`, `5m30s`, `3h`, `2d4h`, `1y20d`. */
export function humanDuration(millis: number): string {
  const seconds = Math.trunc(millis / 1000)
  // Tolerates a clock that is up to two seconds ahead.
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (hours < 192) return both(days, 'd', hours % 24, 'h')
  const years = Math.floor(days / 365)
  if (years < 2) return `${days}d`
  return years < 8 ? both(years, 'y', days % 365, 'd') : `${years}y`
}

const both = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
