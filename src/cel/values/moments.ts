// Timestamps to the nanosecond, and durations of an int64 of nanoseconds.
import { parseDuration } from '../../meta/values/time.js'
import { CelError } from '../cel-error.js'

export class Timestamp {
  constructor(
    /** Since 1970, negative before. */
    readonly seconds: number,
    /** 0 to 999,999,999, always forward. */
    readonly nanos: number,
    /** Minutes east of UTC in which it was written. It is printed so, and counts for nothing else. */
    readonly zone = 0,
  ) {}
}

export class Duration {
  constructor(readonly nanos: bigint) {}
}

export const TIMESTAMP_OVERFLOW = new CelError('timestamp overflow')
export const DURATION_OVERFLOW = new CelError('integer overflow')

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
export const MIN_SECONDS = -62_135_596_800
export const MAX_SECONDS = 253_402_300_799
const BILLION = 1_000_000_000n

export const EPOCH = new Timestamp(0, 0)

/** A moment so much later, in the same zone. */
export function laterBy(time: Timestamp, nanosLater: bigint): Timestamp | CelError {
  const total = nanosOf(time) + nanosLater
  let seconds = total / BILLION
  let nanos = total % BILLION
  if (nanos < 0n) {
    nanos += BILLION
    seconds -= 1n
  }
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS
    ? TIMESTAMP_OVERFLOW
    : new Timestamp(Number(seconds), Number(nanos), time.zone)
}

export const nanosOf = ({ seconds, nanos }: Timestamp): bigint => BigInt(seconds) * BILLION + BigInt(nanos)

export const durationOf = (nanos: bigint): Duration | CelError =>
  nanos > 2n ** 63n - 1n || nanos < -(2n ** 63n) ? DURATION_OVERFLOW : new Duration(nanos)

export const compareTimestamps = (a: Timestamp, b: Timestamp): number => a.seconds - b.seconds || a.nanos - b.nanos

const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/

/** Reads RFC 3339 as Go's time.Parse does. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = FORM.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const zone = match[8]!
  let offset = 0
  if (zone !== 'Z') {
    const hours = Number(zone.slice(1, 3))
    const minutes = Number(zone.slice(4, 6))
    if (hours > 24 || minutes > 60) return undefined
    offset = (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset
  return new Timestamp(seconds, Number((match[7] ?? '').slice(0, 9).padEnd(9, '0')), offset / 60)
}

const daysIn = (year: number, month: number): number => {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/** RFC 3339 with as many digits of a second as there are. */
export function printTimestamp({ seconds, nanos, zone }: Timestamp): string {
  const whole = new Date((seconds + zone * 60) * 1000).toISOString().slice(0, 19)
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
  if (zone === 0) return `${whole}${fraction}Z`
  const size = Math.abs(zone)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${whole}${fraction}${zone < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** A duration of seconds with a fraction: `5400.5s`. */
export function printSeconds({ nanos }: Duration): string {
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  const fraction = String(size % BILLION)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${sign}${size / BILLION}${fraction === '' ? '' : `.${fraction}`}s`
}

/** Reads `1h30m`; the bounds of an int64 of nanoseconds are Go's. */
export function durationFromText(text: string): Duration | undefined {
  const nanos = parseDuration(text)
  return nanos.ok ? new Duration(nanos.value) : undefined
}
