// Short names made of a hash, in letters that spell no words.
import { printJson } from '../../meta/go/go-text.js'
import type { Value } from '../../meta/values/value.js'

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** FNV-1a of 32 bits. */
function fnv32a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** FNV-1 of 32 bits. */
function fnv32(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash, 0x01000193) ^ byte
  return hash >>> 0
}

/** The hash of a ControllerRevision, as Kubernetes computes it of the JSON that Go prints, so that names are the same. */
export const revisionHash = (data: unknown, collisions: number): string =>
  safeEncode(String(fnv32(Buffer.from(`${sortedJson(data)}${collisions}`))))

/** A text in letters that can be part of a name. */
const safeEncode = (text: string): string =>
  Array.from(text, each => LETTERS[each.codePointAt(0)! % LETTERS.length]).join('')

/** The hash of a value; the same for values that differ only in the order of their members. */
export const hashOf = (value: unknown, collisions = 0): string =>
  safeEncode(String(fnv32a(Buffer.from(`${sortedJson(value)}${collisions === 0 ? '' : collisions}`))))

/** JSON with the members of objects in order of their names. */
const sortedJson = (value: unknown): string => printJson(value as Value)
