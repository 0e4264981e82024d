// Lists that are requested again and again: their items are kept as the bytes of a response, so that they are neither read
// nor encoded again. The first request notes the list, the second one keeps its bytes, and later ones replace what was
// written since.
import type { KindVersion, VersionedKind } from '../../kinds/kind.js'
import type { CacheMark } from '../../storage/watch-cache.js'
import { type ListPiece, sizeOfPieces } from './list-pieces.js'

/** One list: everything under a prefix, or as many objects from its beginning as a limit allows. */
export interface KnownList {
  readonly state: ListState | undefined
  /** Whether the list was requested before, so that it is worth to keep its items. */
  readonly isRepeated: boolean
  /** Keeps a state in the place of an earlier one, if it is not too large. Without one, nothing is kept. */
  keep(state: ListState | undefined): void
}

/** The items of a list at a revision, as JSON. */
export interface ListState {
  readonly mark: CacheMark
  readonly pieces: readonly ListPiece[]
  /** How a page with a limit ends: its last key, and how many entries follow. */
  readonly end: { readonly key: string; readonly remaining: number } | undefined
}

/** Of the items of all lists of a server, and so of one list. */
export const MAX_KNOWN_BYTES = 16 * 1024 * 1024

export interface KnownLists {
  find(versioned: VersionedKind, prefix: string, limit: number | undefined): KnownList
}

const MAX_LISTS = 1000

interface Noted extends KnownList {
  readonly kind: unknown
  readonly version: KindVersion
  state: ListState | undefined
  /** What `state` takes. */
  bytes: number
  isRepeated: boolean
}

/** Shared by the stores of a server. */
export function createKnownLists(maxBytes = MAX_KNOWN_BYTES): KnownLists {
  /** In order of use. */
  const lists = new Map<string, Noted>()
  let bytes = 0

  function set(list: Noted, state: ListState | undefined): void {
    const size = state ? sizeOfPieces(state.pieces) : 0
    const isKept = size <= maxBytes
    bytes -= list.bytes
    list.state = isKept ? state : undefined
    list.bytes = isKept ? size : 0
    bytes += list.bytes
  }

  function drop(key: string): void {
    const list = lists.get(key)
    if (!list) return
    lists.delete(key)
    set(list, undefined)
  }

  function keep(key: string, list: Noted, state: ListState | undefined): void {
    if (lists.get(key) !== list) return
    // Two requests may read the list at the same time.
    if (state && list.state && list.state.mark.revision > state.mark.revision) return
    set(list, state)
    for (const oldest of lists.keys()) {
      if (bytes <= maxBytes) return
      if (oldest !== key) drop(oldest)
    }
  }

  return {
    find({ kind, version }, prefix, limit) {
      const key = `${version.name} ${limit ?? ''} ${prefix}`
      const known = lists.get(key)
      // A definition that changes gives a new kind, which may read the same objects differently.
      if (known && known.kind === kind && known.version === version) {
        known.isRepeated = true
        lists.delete(key)
        lists.set(key, known)
        return known
      }
      drop(key)
      if (lists.size >= MAX_LISTS) drop(lists.keys().next().value!)
      const list: Noted = {
        kind,
        version,
        state: undefined,
        bytes: 0,
        isRepeated: false,
        keep: state => keep(key, list, state),
      }
      lists.set(key, list)
      return list
    },
  }
}
