// CBOR sequences (RFC 8742), the framing of watch events: one item after the other.

import { CodecError } from '../codec-error.js'
import { type CborLimits, endOfItem } from './wellformed.js'

export interface CborFrames {
  /** The complete items at the beginning of the bytes, each with its tags. */
  frames: Uint8Array[]
  /** The remaining bytes: the beginning of an incomplete item. */
  rest: Uint8Array
}

/** Splits off the complete items of a stream. Throws a CodecError if an item cannot become well formed. */
export function splitCborSequence(bytes: Uint8Array, limits: CborLimits = {}): CborFrames {
  const frames: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    let end: number
    try {
      end = endOfItem(bytes, at, limits)
    } catch (error) {
      if (error instanceof CodecError && error.message === 'unexpected EOF') break
      throw error
    }
    frames.push(bytes.subarray(at, end))
    at = end
  }
  return { frames, rest: bytes.subarray(at) }
}
