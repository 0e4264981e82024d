// Times as Go formats them: RFC 3339 with as many decimals as needed.
import { parsed, type Result } from '../../base/result.js'
import { parseTime } from '../../meta/values/time.js'
import { CodecError } from '../codec-error.js'

const RFC3339 = /^(.*)T(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/

/** Normalizes an RFC 3339 time to Go's format. */
export function formatRfc3339(text: string): Result<string> {
  const time = parseTime(text)
  const match = RFC3339.exec(text)
  if (!time.ok || match === null) return time
  const [, date, hour = '', minutes, fraction = '', zone = 'Z'] = match
  const decimals = fraction.slice(0, 9).replace(/0+$/, '')
  const utc = zone === 'Z' || zone.slice(1) === '00:00'
  return parsed(`${date}T${hour.padStart(2, '0')}${minutes}${decimals && `.${decimals}`}${utc ? 'Z' : zone}`)
}

/** Seconds since 1970 as RFC 3339 in UTC. */
export function formatEpoch(seconds: number): string {
  const whole = Math.trunc(seconds)
  const nanoseconds = Math.trunc((seconds - whole) * 1e9)
  const floor = nanoseconds < 0 ? whole - 1 : whole
  const date = new Date(floor * 1000)
  const year = date.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) {
    const reason = 'Time.MarshalText: year outside of range [0,9999]'
    throw new CodecError('unacceptable', `cbor: decoded time cannot be represented in RFC3339 format: ${reason}`)
  }
  const text = `${String(year).padStart(4, '0')}${date.toISOString().slice(-20, -5)}`
  const decimals = String(nanoseconds < 0 ? nanoseconds + 1e9 : nanoseconds)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${text}${decimals === '' ? '' : `.${decimals}`}Z`
}
