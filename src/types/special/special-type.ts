// A type whose values are encoded by rules of its own and not by its fields: a time, a quantity. One object has all
// that is compiled from it; each special type has a file in this folder.
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { ValueCodec } from '../go/value-codec.js'
import type { MessageCodec } from '../protobuf/message-codec.js'

export interface SpecialType {
  /** `meta/v1.Time` */
  readonly name: string
  /** How Go decodes and prints it. `codecOf` gives the codecs of the types within. */
  codec(codecOf: (typeName: string) => ValueCodec): ValueCodec
  /** Its protobuf message. */
  message(codecOf: (typeName: string) => MessageCodec): MessageCodec
  /**
   * What server-side apply takes it for: one value, an object of which nothing is declared, or whatever the value is.
   */
  readonly merge: 'scalar' | 'atomic' | 'any'
  /** What CEL declares it as. A type without one in OpenAPI v3 is hidden from expressions. */
  readonly cel: 'timestamp' | 'dyn' | 'object' | 'hidden'
  /** Its schema in OpenAPI v2 or v3. */
  openapi(version: 2 | 3): ValueObject
}

/** A struct in Go, so that `omitempty` does not leave it out; `zero` is printed where it is not set. */
export const printedAs = (zero: Value): Omit<ValueCodec, 'decode'> => ({
  zero: () => zero,
  absent: () => zero,
  isEmpty: () => false,
  canBeOmitted: false,
})
