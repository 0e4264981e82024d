// Stored bytes on their way out: the resourceVersion is put in, and what stands before and after may differ, but what
// lies between is only copied. This is how objects of the version that is asked for are served without parsing.

import { encodeString } from '../codec/json.js'
import type { Entry } from '../storage/store.js'

/** The entry with `opening` in the place of its head and `closing` behind it. */
export function splice(entry: Entry, head: Buffer, opening: Buffer, closing: Buffer): Buffer {
  const version = versionMember(entry)
  const bytes = Buffer.allocUnsafe(sizeOfSplice(entry, head, opening, version) + closing.length)
  const end = spliceInto(bytes, 0, entry, head, opening, version)
  closing.copy(bytes, end)
  return bytes
}

export const versionMember = ({ revision }: Entry): string => `"resourceVersion":"${revision}",`

export const sizeOfSplice = ({ value }: Entry, head: Buffer, opening: Buffer, version: string): number =>
  opening.length + version.length + value.length - head.length

/** Writes at `at`, and answers where it ends. */
export function spliceInto(
  bytes: Buffer,
  at: number,
  { value }: Entry,
  head: Buffer,
  opening: Buffer,
  version: string,
): number {
  let end = at + opening.copy(bytes, at)
  end += bytes.write(version, end, 'latin1')
  return end + value.copy(bytes, end, head.length)
}

/** What an object begins with as an item of a list of a kind whose items do not say what they are. */
export const BARE_HEAD = Buffer.from('{"metadata":{')

/** The first bytes of an event with an object that begins with `head`. */
export const headOfEvent = (type: string, head: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`{"type":${encodeString(type)},"object":`), head])
