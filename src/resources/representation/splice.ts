// Stored bytes on their way out: the resourceVersion is put in, and what stands before and after may differ, but what
// lies between is only copied. This is how objects of the version that is asked for are served without parsing.
import { encodeString } from '../../codec/json-encode.js'
import type { KindVersion } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import type { Entry } from '../../storage/store.js'
import type { Served } from '../answer.js'
import { storedHead } from '../stored-object.js'

/** How the objects of a version begin, in bytes that are made once. */
export interface Heads {
  /** In the store. */
  readonly stored: Buffer
  /** As an item of a list of a kind whose items do not say what they are. */
  readonly bare: Buffer
}

const heads = new WeakMap<KindVersion, Heads>()

export function headsOf({ kind, version }: Served): Heads {
  let known = heads.get(version)
  if (!known) {
    known = { stored: storedHead(apiVersionOf(kind, version.name), kind.names.kind), bare: BARE_HEAD }
    heads.set(version, known)
  }
  return known
}

const BARE_HEAD = Buffer.from('{"metadata":{')

/** Whether the bytes begin as those of every object of the version do. */
export const isSpliceable = ({ value }: Entry, stored: Buffer): boolean =>
  value.length > stored.length && stored.compare(value, 0, stored.length) === 0

/** The entry with `opening` in the place of its head and `closing` behind it; it must be spliceable. */
export function splice(entry: Entry, stored: Buffer, opening: Buffer, closing: Buffer): Buffer {
  const version = versionMember(entry)
  const bytes = Buffer.allocUnsafe(sizeOfSplice(entry, stored, opening, version) + closing.length)
  const end = spliceInto(bytes, 0, entry, stored, opening, version)
  closing.copy(bytes, end)
  return bytes
}

export const versionMember = ({ revision }: Entry): string => `"resourceVersion":"${revision}",`

export const sizeOfSplice = ({ value }: Entry, stored: Buffer, opening: Buffer, version: string): number =>
  opening.length + version.length + value.length - stored.length

/** Writes at `at`, and answers where it ends. */
export function spliceInto(
  bytes: Buffer,
  at: number,
  { value }: Entry,
  stored: Buffer,
  opening: Buffer,
  version: string,
): number {
  let end = at + opening.copy(bytes, at)
  end += bytes.write(version, end, 'latin1')
  return end + value.copy(bytes, end, stored.length)
}

export const openingOfEvent = (type: string, { kind, version }: Served): Buffer =>
  Buffer.concat([
    Buffer.from(`{"type":${encodeString(type)},"object":`),
    storedHead(apiVersionOf(kind, version.name), kind.names.kind),
  ])
