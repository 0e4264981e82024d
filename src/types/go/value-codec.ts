// A compiled type: how its values are decoded, and how it is printed if it is not set.
import type { Value } from '../../meta/values/value.js'
import type { DecodeState } from './decode-error.js'

export interface ValueCodec {
  /** Decodes a value that is not null. */
  readonly decode: (value: Value, state: DecodeState) => Value
  /** The value that is printed if nothing is set. */
  readonly zero: () => Value
  /** True for values that `omitempty` omits. */
  readonly isEmpty: (value: Value) => boolean
  /** The value of a field that is not set: lists, maps and pointers print null. */
  readonly absent: () => Value
  /** Structs are never empty, so that `omitempty` does not apply to them. */
  readonly canBeOmitted: boolean
}
