// Lists that are requested again while nothing in them has changed: their items are kept as the bytes of a response, so
// that they are neither read nor encoded again. The first request notes the list, the second one keeps its bytes.
import type { KindVersion, VersionedKind } from '../../kinds/kind.js'
import type { Revision } from '../../storage/store.js'

/** One list in one state: everything under a prefix, or as many objects from its beginning as a limit allows. */
export interface KnownList {
  /** The items as JSON, with commas between them, in pieces. */
  readonly items: readonly Buffer[] | undefined
  /** Whether the list was requested before, so that it is worth to keep its items. */
  readonly isRepeated: boolean
  /** How a page with a limit ends: its last key, and how many entries follow. */
  end: { readonly key: string; readonly remaining: number } | undefined
  /** Keeps the items, if they are not too large. */
  keep(items: readonly Buffer[]): void
}

/** Of the items of all lists of a server, and so of one list. */
export const MAX_KNOWN_BYTES = 16 * 1024 * 1024

export interface KnownLists {
  /** `changed`: the revision of the latest write to the list. What is kept of an earlier state is dropped. */
  find(versioned: VersionedKind, prefix: string, limit: number | undefined, changed: Revision): KnownList
}

const MAX_LISTS = 1000

interface Noted extends KnownList {
  readonly kind: unknown
  readonly version: KindVersion
  readonly changed: Revision
  items: readonly Buffer[] | undefined
  isRepeated: boolean
}

/** Shared by the stores of a server. */
export function createKnownLists(maxBytes = MAX_KNOWN_BYTES): KnownLists {
  /** In order of use. */
  const lists = new Map<string, Noted>()
  let bytes = 0

  function drop(key: string): void {
    const list = lists.get(key)
    if (!list) return
    lists.delete(key)
    bytes -= sizeOf(list)
    list.items = undefined
  }

  function keep(key: string, list: Noted, items: readonly Buffer[]): void {
    if (lists.get(key) !== list || list.items || sizeOf({ items }) > maxBytes) return
    list.items = items
    bytes += sizeOf(list)
    for (const oldest of lists.keys()) {
      if (bytes <= maxBytes) return
      if (oldest !== key) drop(oldest)
    }
  }

  return {
    find({ kind, version }, prefix, limit, changed) {
      const key = `${version.name} ${limit ?? ''} ${prefix}`
      const known = lists.get(key)
      // A definition that changes gives a new kind, which may read the same objects differently.
      if (known && known.kind === kind && known.version === version && known.changed === changed) {
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
        changed,
        items: undefined,
        isRepeated: false,
        end: undefined,
        keep: items => keep(key, list, items),
      }
      lists.set(key, list)
      return list
    },
  }
}

const sizeOf = ({ items }: Pick<KnownList, 'items'>): number =>
  items?.reduce((sum, piece) => sum + piece.buffer.byteLength, 0) ?? 0
