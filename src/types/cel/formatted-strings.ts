// Strings that are other values to an expression: dates, durations, bytes. They are parsed as kube-apiserver does it
// for CEL, which differs from the check of the same format in a schema: a string may pass there and be an error here.
import { CelError, Duration, parseTimestamp, type Value } from '../../cel/index.js'
import { readDuration } from '../../meta/values/duration-format.js'
import { parseTime } from '../../meta/values/time.js'

/** Reads strings of a format; undefined for formats whose strings are plain strings. */
export const formatReader = (format: string): ((text: string) => Value) | undefined => READERS.get(format)

function readDate(text: string): Value {
  const day = `${text}T00:00:00Z`
  return parseTimestamp(day) ?? new CelError(`Invalid date formatted string ${text}: ${reasonOf(day)}`)
}

function readDateTime(text: string): Value {
  return parseTimestamp(text) ?? new CelError(`Invalid date-time formatted string ${text}: ${reasonOf(text)}`)
}

/** Several layouts are tried; the error is that of the last one. */
function reasonOf(text: string): string {
  const read = parseTime(text)
  return read.ok ? 'out of range' : read.error.replace('05Z07:00', '05.999999999Z07:00')
}

function readSpan(text: string): Value {
  const nanos = readDuration(text)
  return nanos === undefined
    ? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
    : new Duration(nanos)
}

/** In the alphabet of base64url. */
function readBytes(text: string): Value {
  const [digits = ''] = /^[\w-]*/.exec(text)!
  const isComplete = text.length % 4 === 0 && /^={0,2}$/.test(text.slice(digits.length)) && digits.length % 4 !== 1
  if (isComplete) return Buffer.from(digits, 'base64url')
  return new CelError(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${digits.length}`)
}

const READERS: ReadonlyMap<string, (text: string) => Value> = new Map([
  ['byte', readBytes],
  ['date', readDate],
  ['date-time', readDateTime],
  ['duration', readSpan],
])
