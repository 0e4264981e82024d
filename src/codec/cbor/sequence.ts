// CBOR sequences (RFC 8742), in which a watch sends its events: items one after the other, each its own frame.

import { CodecError } from '../codec-error.js'
import { type CborLimits, endOfItem } from './wellformed.js'

export interface CborFrames {
  /** The whole items at the beginning of the bytes, each with its tags. */
  frames: Uint8Array[]
  /** What is left: the beginning of an item whose end has not come yet. */
  rest: Uint8Array
}

/** Takes from a stream what is whole. Throws a CodecError where no more bytes could make the item well formed. */
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
