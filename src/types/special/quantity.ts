// api/resource.Quantity: a number with a suffix, such as `100m`, in one canonical form.
import { BYTES, readString, writeString, writeTag } from '../../codec/protobuf.js'
import { parseQuantity, printQuantity } from '../../meta/values/quantity.js'
import { isNumber, spellNumber, type Value } from '../../meta/values/value.js'
import { type DecodeState, failMismatch, TypedDecodeError } from '../go/decode-error.js'
import { type MessageCodec, readFields } from '../protobuf/message-codec.js'
import { printedAs, type SpecialType } from './special-type.js'

export const QUANTITY: SpecialType = {
  name: 'api/resource.Quantity',
  codec: () => ({ decode, ...printedAs('0') }),
  message: () => MESSAGE,
  merge: 'scalar',
  cel: 'hidden',
  openapi: version => (version === 2 ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] }),
}

function decode(value: Value, state: DecodeState): Value {
  // JSON has numbers for quantities, CBOR has not.
  if (state.cbor !== undefined && typeof value !== 'string') return failMismatch(state, value, 'string')
  // A value that is neither a string nor a number fails like a string that is no quantity.
  const text = typeof value === 'string' ? value.trim() : isNumber(value) ? spellNumber(value) : '{}'
  const quantity = parseQuantity(text)
  if (!quantity.ok) throw new TypedDecodeError(quantity.error)
  return printQuantity(quantity.value)
}

const MESSAGE: MessageCodec = {
  write: (writer, value) => {
    writeString(writer, typeof value === 'string' ? value : '0')
    writeTag(writer, 1, BYTES)
  },
  read: reader => {
    let text = ''
    readFields(reader, 'Quantity', (field, wire) => {
      if (field !== 1 || wire !== BYTES) return false
      text = readString(reader)
      return true
    })
    return text === '' ? null : text
  },
}
