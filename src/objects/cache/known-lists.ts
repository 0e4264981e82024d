// Lists that are requested again and again: their items are kept as the bytes of a response, so that they are neither read
// nor encoded again. The first request notes the list, the second one keeps its bytes, and later ones replace what was
// written since. What is kept is JSON; the same items in another format are kept beside each piece of it.
import type { KindVersion, VersionedKind } from '../../kinds/kind.js'
import type { CacheMark } from '../../storage/watch-cache.js'
import { createGatherings, type Gathering } from './gatherings.js'
import { type ListPiece, type PieceForm, sizeOfPieces } from './list-pieces.js'

/** One list: everything under a prefix, or as many objects from its beginning as a limit allows. */
export interface KnownList {
  readonly state: ListState | undefined
  /** Whether the list was requested before, so that it is worth to keep its items. */
  readonly isRepeated: boolean
  /** Keeps a state in the place of an earlier one, if it is not too large. Without one, nothing is kept. */
  keep(state: ListState | undefined): void
  /**
   * A response begins to gather the items that are to be kept; `drop` is called when it must give them up. Undefined if
   * another one gathers them. A list that is too long is not tried again by the next requests.
   */
  gather(drop: () => void): Gathering | undefined
  /** Keeps a piece of the list in another format, if there is room for it. */
  addForm(piece: ListPiece, name: string, form: PieceForm): void
}

/** The items of a list at a revision, as JSON. */
export interface ListState {
  readonly mark: CacheMark
  readonly pieces: readonly ListPiece[]
  /** How a page with a limit ends: its last key, and how many entries follow. */
  readonly end: { readonly key: string; readonly remaining: number } | undefined
}

/** Of the items of all lists of a server, and so of one list. */
const MAX_KNOWN_BYTES = 16 * 1024 * 1024

export interface KnownLists {
  find(versioned: VersionedKind, prefix: string, limit: number | undefined): KnownList
  /** The kind was removed or replaced: none of its lists is kept any more, nor what they hold of the kind. */
  retire(versions: readonly KindVersion[]): void
}

const MAX_LISTS = 1000
/** So many requests for a list that was too long pass before it is tried again. */
const POSTPONED = 20

interface Noted extends KnownList {
  readonly kind: unknown
  readonly version: KindVersion
  state: ListState | undefined
  /** What `state` takes. */
  bytes: number
  isRepeated: boolean
  /** How many requests are still to pass before the list is tried again. */
  postponed: number
}

/** Shared by the stores of a server. */
export function createKnownLists(maxBytes = MAX_KNOWN_BYTES): KnownLists {
  const gatherings = createGatherings(maxBytes)
  /** In order of use. */
  const lists = new Map<string, Noted>()
  let bytes = 0
  /** Requests that began before still find lists of these. */
  const retired = new WeakSet<KindVersion>()

  function set(list: Noted, state: ListState | undefined): void {
    const size = state ? sizeOfPieces(state.pieces) : 0
    const isKept = size <= maxBytes
    bytes -= list.bytes
    if (!isKept) list.postponed = POSTPONED
    list.state = isKept ? state : undefined
    list.bytes = isKept ? size : 0
    bytes += list.bytes
  }

  function note(key: string, list: Noted): void {
    drop(key)
    if (lists.size >= MAX_LISTS) drop(lists.keys().next().value!)
    lists.set(key, list)
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
    makeRoom(key)
  }

  /** Drops other lists until those that are left fit. */
  function makeRoom(key: string): void {
    for (const oldest of lists.keys()) {
      if (bytes <= maxBytes) return
      if (oldest !== key) drop(oldest)
    }
  }

  function addForm(key: string, list: Noted, piece: ListPiece, name: string, form: PieceForm): void {
    // Two requests may make the same form, and the list may have changed meanwhile.
    if (lists.get(key) !== list || !list.state?.pieces.includes(piece) || piece.forms?.has(name)) return
    if (list.bytes + form.size > maxBytes) return
    piece.forms ??= new Map()
    piece.forms.set(name, form)
    list.bytes += form.size
    bytes += form.size
    makeRoom(key)
  }

  return {
    find({ kind, version }, prefix, limit) {
      const key = `${version.name} ${limit ?? ''} ${prefix}`
      const known = lists.get(key)
      // A definition that changes gives a new kind, which may read the same objects differently.
      if (known && known.kind === kind && known.version === version) {
        known.isRepeated = known.postponed === 0
        if (!known.isRepeated) known.postponed--
        lists.delete(key)
        lists.set(key, known)
        return known
      }
      const list: Noted = {
        kind,
        version,
        state: undefined,
        bytes: 0,
        isRepeated: false,
        postponed: 0,
        keep: state => keep(key, list, state),
        gather: giveUp =>
          gatherings.begin(list, isTooLong => {
            if (isTooLong) list.postponed = POSTPONED
            giveUp()
          }),
        addForm: (piece, name, form) => addForm(key, list, piece, name, form),
      }
      if (!retired.has(version)) note(key, list)
      return list
    },

    retire(versions) {
      for (const version of versions) retired.add(version)
      for (const [key, { version }] of lists) if (retired.has(version)) drop(key)
    },
  }
}
