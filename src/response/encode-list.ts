// A list as JSON, piece by piece. Items are encoded as they are read from the store, so that only one piece is in memory.

import { startTurns } from '../base/turns.js'
import { encodeJson, prettyJsonPieces } from '../codec/json.js'
import type { Kind, VersionedKind } from '../kinds/kind.js'
import type { ValueObject } from '../meta/values/value.js'
import { type ListPiece } from '../objects/object-store.js'
import { type ObjectView } from '../objects/object-view.js'
import { headOfItem, sizeOfSplice, splice, spliceInto, versionMember } from '../objects/splice.js'
import type { ListPages, ListResult } from '../verbs/result.js'

/** The value of an item that is not copied from the store. */
export type ItemValue = (shown: ObjectView) => ValueObject

/** What a list is but its items. */
export interface ListShape {
  /** Everything but the items. */
  readonly head: ValueObject
  /** The member that holds the items, which comes last. */
  readonly member: 'items' | 'rows'
  readonly item: ItemValue
  /** Empty lists of some kinds are null. */
  readonly nullWhenEmpty: boolean
}

export interface JsonList {
  readonly shape: ListShape
  readonly pages: ListPages
  /** Set if items may be copied as they are stored. */
  readonly copies?: Copies | undefined
  readonly pretty: boolean
}

interface Copies extends Pick<ListResult, 'kept' | 'keep'> {
  readonly kind: Kind
}

/** The first piece is small, since most lists are, and each further one four times as large as the one before. */
const FIRST_PIECE = 4 * 1024
const PIECE = 64 * 1024
/** A list that is not longer is encoded at once. */
const SHORT = 64 * 1024
const SHORT_ITEMS = 32

/** A list of a few items that can be copied or are kept. Undefined if it is not one. */
export function encodeShortList(list: JsonList): Buffer | undefined {
  const { copies, pages } = list
  if (!copies) return undefined
  const { kept, keep } = copies
  const items = kept
    ? shortBytes(kept.pieces.map(({ bytes }) => bytes))
    : keep
      ? undefined
      : shortCopies(copies.kind, pages.only)
  if (!items) return undefined
  if (items.length === 0) return emptyList(list.shape, false)
  const { opening, between, closing } = frameOf(list.shape, false)
  return Buffer.concat([opening, items.subarray(between.length), closing])
}

/** The items with a comma before each. */
function shortCopies(kind: Kind, items: ListPages['only']): Buffer | undefined {
  if (!items || items.length > SHORT_ITEMS) return undefined
  const parts: Buffer[] = []
  for (const { entry, head } of items) {
    if (!entry) return undefined
    parts.push(COMMA, splice(entry, head, headOfItem(kind, head), NO_BYTES))
  }
  return shortBytes(parts)
}

function shortBytes(parts: readonly Buffer[]): Buffer | undefined {
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  return size <= SHORT ? Buffer.concat(parts, size) : undefined
}

export async function* encodeJsonList(list: JsonList): AsyncGenerator<Buffer> {
  const { shape, pretty, copies } = list
  const { opening, between, closing } = frameOf(shape, pretty)
  if (copies?.kept) {
    yield opening
    // Each item has a comma before it; the first one needs none.
    for (const [i, { bytes }] of copies.kept.pieces.entries()) yield i === 0 ? bytes.subarray(between.length) : bytes
    yield closing
    return
  }
  const kept = createKeptPieces(copies?.keep, opening, between)
  let pieceSize = FIRST_PIECE
  let piece = NO_BYTES
  let at = 0
  let separator = opening
  const turns = startTurns()
  try {
    for await (const page of list.pages) {
      for (const shown of page) {
        const stored = copies && shown.entry
        if (!stored) kept.forget()
        const { head } = shown
        const start = copies ? headOfItem(copies.kind, head) : head
        const version = stored ? versionMember(stored) : ''
        if (pretty) {
          yield separator
          for (const part of prettyJsonPieces(shape.item(shown))) {
            yield Buffer.from(part.replaceAll('\n', `\n${INDENT}`))
            if (turns.isDue()) await turns.give()
          }
          separator = between
          continue
        }
        const bytes = stored ? undefined : Buffer.from(encodeJson(shape.item(shown)))
        const size = separator.length + (bytes?.length ?? sizeOfSplice(stored!, head, start, version))
        if (at + size > piece.length) {
          if (at > 0) yield kept.piece(piece.subarray(0, at))
          piece = Buffer.allocUnsafe(Math.max(pieceSize, size))
          pieceSize = Math.min(4 * pieceSize, PIECE)
          at = 0
        }
        if (stored) kept.item(stored.key, at)
        at += separator.copy(piece, at)
        at = stored ? spliceInto(piece, at, stored, head, start, version) : at + bytes!.copy(piece, at)
        separator = between
        // Items that are not copied take long: their objects are parsed.
        if (!stored && turns.isDue()) await turns.give()
      }
    }
    if (at > 0) yield kept.piece(piece.subarray(0, at))
    kept.end()
    yield separator === opening ? emptyList(shape, pretty) : closing
  } finally {
    // The client may have gone.
    kept.forget()
  }
}

/** Notes where the items of a list are in its pieces, and passes all of them on when the list is complete. */
interface KeptPieces {
  /** An item begins here in the next piece. */
  item(key: string, at: number): void
  piece(bytes: Buffer): Buffer
  /** Nothing is kept, such as after an item that was no copy. */
  forget(): void
  end(): void
}

const KEEP_NOTHING: KeptPieces = { item() {}, piece: bytes => bytes, forget() {}, end() {} }

function createKeptPieces(keep: Copies['keep'], opening: Buffer, between: Buffer): KeptPieces {
  let pieces: ListPiece[] | undefined = []
  const gathering = keep?.gather(() => (pieces = undefined))
  if (!keep || !gathering) return KEEP_NOTHING
  let keys: string[] = []
  let starts: number[] = []
  const add = (bytes: Buffer): void => {
    // The first item follows the opening, in the place of which it gets what is between items.
    const isFirst = pieces!.length === 0
    const moved = isFirst ? opening.length - between.length : 0
    pieces!.push({
      bytes: isFirst ? Buffer.concat([between, bytes.subarray(opening.length)]) : bytes,
      keys,
      starts: starts.map(start => Math.max(0, start - moved)),
    })
    keys = []
    starts = []
  }
  return {
    item(key, at) {
      keys.push(key)
      starts.push(at)
    },
    piece(bytes) {
      gathering.add(bytes.length)
      if (pieces) add(bytes)
      return bytes
    },
    forget() {
      pieces = undefined
      gathering.end()
    },
    end() {
      gathering.end()
      if (pieces) keep(pieces)
    },
  }
}

const NO_BYTES = Buffer.alloc(0)
const COMMA = Buffer.from(',')

export interface Frame {
  readonly opening: Buffer
  readonly between: Buffer
  readonly closing: Buffer
}

/** The bytes before, between and after items. */
export function frameOf({ head, member }: ListShape, pretty: boolean): Frame {
  if (!pretty) return { opening: Buffer.from(`${printedBefore(head, member)}[`), between: COMMA, closing: CLOSING }
  const text = encodeJson({ ...head, [member]: [] }, { pretty })
  const inside = text.lastIndexOf('[]') + 1
  const line = `\n${INDENT}`
  return {
    opening: Buffer.from(text.slice(0, inside) + line),
    between: Buffer.from(`,${line}`),
    closing: Buffer.from(`\n  ${text.slice(inside)}`),
  }
}

const CLOSING = Buffer.from(']}\n')

/** The head, which is never empty, up to the items. */
const printedBefore = (head: ValueObject, member: string): string => `${encodeJson(head).slice(0, -1)},"${member}":`

export function emptyList({ head, member, nullWhenEmpty }: ListShape, pretty: boolean): Buffer {
  if (!pretty) return Buffer.from(`${printedBefore(head, member)}${nullWhenEmpty ? 'null' : '[]'}}\n`)
  return Buffer.from(encodeJson({ ...head, [member]: nullWhenEmpty ? null : [] }, { pretty }))
}

/** The indentation of items. Line breaks within strings are escaped in JSON, so that each belongs to the layout. */
const INDENT = '    '

/** An item without apiVersion and kind. */
export function bareItem(shown: ObjectView): ValueObject {
  const { apiVersion: _, kind: __, ...rest } = shown.value()
  return rest
}

export const typedItem = (shown: ObjectView): ValueObject => shown.value()

export const itemOf = ({ kind }: VersionedKind): ItemValue => (kind.traits.listItemsHaveTypeMeta ? typedItem : bareItem)
