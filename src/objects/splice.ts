// Serves stored bytes without parsing them: the resourceVersion is inserted, the beginning and the end may be replaced,
// and the rest is copied.

import { encodeString } from '../codec/json.js'
import type { Kind } from '../kinds/kind.js'
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

/** Writes at `at`, and returns the position after it. */
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

/** The first bytes of an item without apiVersion and kind. */
const BARE_HEAD = Buffer.from('{"metadata":{')

/** The first bytes of the items of a list; `head` is that of the objects as they are stored. */
export const headOfItem = ({ traits }: Kind, head: Buffer): Buffer => (traits.listItemsHaveTypeMeta ? head : BARE_HEAD)

/** The first bytes of an event with an object that begins with `head`. */
export const headOfEvent = (type: string, head: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`{"type":${encodeString(type)},"object":`), head])
