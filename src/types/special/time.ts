// meta/v1.Time and meta/v1.MicroTime: RFC 3339 in JSON, seconds and nanoseconds since 1970 in protobuf.
import { ProtobufError, readInt32, readInt64, VARINT, writeTag, writeVarint } from '../../codec/protobuf.js'
import { parseMicroTime, parseTime } from '../../meta/values/time.js'
import { failMismatch, TypedDecodeError } from '../go/decode-error.js'
import type { ValueCodec } from '../go/value-codec.js'
import { type MessageCodec, readFields } from '../protobuf/message-codec.js'
import { printedAs, type SpecialType } from './special-type.js'

export const TIME: SpecialType = {
  name: 'meta/v1.Time',
  codec: () => timeCodec(parseTime),
  message: () => timeMessage(seconds => `${seconds}Z`),
  merge: 'scalar',
  cel: 'timestamp',
  openapi: () => ({ type: 'string', format: 'date-time' }),
}

export const MICRO_TIME: SpecialType = {
  name: 'meta/v1.MicroTime',
  codec: () => timeCodec(parseMicroTime),
  message: () => timeMessage((seconds, nanos) => `${seconds}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`),
  merge: 'scalar',
  cel: 'timestamp',
  openapi: () => ({ type: 'string', format: 'date-time' }),
}

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

/** A time that is not set has no fields. Kubernetes writes no nanoseconds for a Time, and ignores those it reads. */
function timeMessage(print: (seconds: string, nanos: number) => string): MessageCodec {
  return {
    write: (writer, value) => {
      if (typeof value !== 'string') return
      const seconds = Date.parse(`${value.slice(0, 19)}Z`) / 1000
      const fraction = /\.([0-9]{1,9})/.exec(value)?.[1] ?? ''
      writeVarint(writer, Number(fraction.padEnd(9, '0')))
      writeTag(writer, 2, VARINT)
      writeVarint(writer, BigInt(seconds))
      writeTag(writer, 1, VARINT)
    },
    read: reader => {
      let seconds = 0
      let nanos = 0
      // The beginning of 1970 has fields, too: both are 0.
      let isSet = false
      readFields(reader, 'Timestamp', (field, wire) => {
        isSet = true
        if (wire !== VARINT || field > 2) return false
        if (field === 1) seconds = Number(readInt64(reader))
        else nanos = readInt32(reader)
        return true
      })
      if (!isSet) return null
      const millis = seconds * 1000
      if (!(millis >= FIRST_MOMENT && millis <= LAST_MOMENT)) {
        throw new ProtobufError('proto: a time must lie within the years 0 to 9999')
      }
      return print(new Date(millis).toISOString().slice(0, 19), Math.max(0, nanos))
    },
  }
}

const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00Z')
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59Z')
