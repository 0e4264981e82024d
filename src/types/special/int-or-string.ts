// util/intstr.IntOrString: a port by number or name, a count or a percentage.
import {
  BYTES,
  readInt32,
  readInt64,
  readString,
  VARINT,
  writeString,
  writeTag,
  writeVarint,
} from '../../codec/protobuf.js'
import { isInteger, type Value } from '../../meta/values/value.js'
import { type DecodeState, failMismatch } from '../go/decode-error.js'
import { type MessageCodec, readFields } from '../protobuf/message-codec.js'
import { printedAs, type SpecialType } from './special-type.js'

export const INT_OR_STRING: SpecialType = {
  name: 'util/intstr.IntOrString',
  codec: () => ({ decode, ...printedAs(0) }),
  message: () => MESSAGE,
  merge: 'any',
  cel: 'dyn',
  openapi: version =>
    version === 2
      ? { type: 'string', format: 'int-or-string' }
      : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
}

function decode(value: Value, state: DecodeState): Value {
  if (typeof value === 'string') return value
  if (isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31) return value
  return failMismatch(state, value, 'int32', 'integer')
}

const MESSAGE: MessageCodec = {
  write: (writer, value) => {
    writeString(writer, typeof value === 'string' ? value : '')
    writeTag(writer, 3, BYTES)
    writeVarint(writer, isInteger(value) ? value : 0)
    writeTag(writer, 2, VARINT)
    writeVarint(writer, typeof value === 'string' ? 1 : 0)
    writeTag(writer, 1, VARINT)
  },
  read: reader => {
    let isText = false
    let number = 0
    let text = ''
    readFields(reader, 'IntOrString', (field, wire) => {
      if (field === 1 && wire === VARINT) isText = readInt64(reader) === 1
      else if (field === 2 && wire === VARINT) number = readInt32(reader)
      else if (field === 3 && wire === BYTES) text = readString(reader)
      else return false
      return true
    })
    return isText ? text : number
  },
}
