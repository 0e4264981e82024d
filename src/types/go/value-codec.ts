// One type of value, compiled: how it is read, and how it prints where it is not set.
import type { Value } from '../../meta/values/value.js'
import type { DecodeState } from './decode-error.js'

export interface ValueCodec {
  /** Reads a value that is not null. */
  readonly decode: (value: Value, state: DecodeState) => Value
  /** What is printed where nothing was set. */
  readonly zero: () => Value
  /** True for what `omitempty` leaves out. */
  readonly isEmpty: (value: Value) => boolean
  /** What a field prints that is not set: lists, maps and pointers print null. */
  readonly absent: () => Value
  /** Structs are never empty, so that `omitempty` does not touch them. */
  readonly canBeOmitted: boolean
}
