// A list as JSON, piece by piece. Items are encoded as they are read from the store, so that only one piece is in memory.

import { startTurns } from '../base/turns.js'
import { encodeJson, prettyJsonPieces } from '../codec/json.js'
import { type VersionedKind } from '../kinds/kind.js'
import type { ValueObject } from '../meta/values/value.js'
import { type KnownList, MAX_KNOWN_BYTES } from '../objects/object-store.js'
import { type ObjectView } from '../objects/object-view.js'
import { BARE_HEAD, sizeOfSplice, spliceInto, versionMember } from './splice.js'

/** The value of an item that is not copied from the store. */
export type ItemValue = (shown: ObjectView) => ValueObject

export interface JsonList {
  /** Everything but the items. */
  readonly head: ValueObject
  /** The member that holds the items, which comes last. */
  readonly member: 'items' | 'rows'
  readonly pages: AsyncIterable<readonly ObjectView[]>
  readonly item: ItemValue
  /** Set if items may be copied as they are stored, with or without their apiVersion and kind. */
  readonly copies?: { readonly withTypeMeta: boolean } | undefined
  /** Where items that are copied are kept for the next request, and may be from the last one. */
  readonly known?: KnownList | undefined
  readonly pretty: boolean
  /** Empty lists of some kinds are null. */
  readonly nullWhenEmpty: boolean
}

/** The first piece is small, since most lists are, and each further one four times as large as the one before. */
const FIRST_PIECE = 4 * 1024
const PIECE = 64 * 1024

export async function* encodeJsonList(list: JsonList): AsyncGenerator<Buffer> {
  const { pretty, copies, item } = list
  const { opening, between, closing } = frameOf(list)
  const known = copies && list.known
  if (known?.items) {
    yield opening
    yield* known.items
    yield closing
    return
  }
  /** The pieces without the opening, as long as all items are copies. */
  let kept: Buffer[] | undefined = known?.isRepeated ? [] : undefined
  let keptBytes = 0
  const keep = (bytes: Buffer): Buffer => {
    keptBytes += bytes.length
    if (keptBytes > MAX_KNOWN_BYTES) kept = undefined
    kept?.push(kept.length === 0 ? bytes.subarray(opening.length) : bytes)
    return bytes
  }
  let pieceSize = FIRST_PIECE
  let piece = NO_BYTES
  let at = 0
  let separator = opening
  const turns = startTurns()
  for await (const page of list.pages) {
    for (const shown of page) {
      const stored = copies && shown.entry
      if (!stored) kept = undefined
      const { head } = shown
      const start = copies?.withTypeMeta ? head : BARE_HEAD
      const version = stored ? versionMember(stored) : ''
      if (pretty) {
        yield separator
        for (const part of prettyJsonPieces(item(shown))) {
          yield Buffer.from(part.replaceAll('\n', `\n${INDENT}`))
          if (turns.isDue()) await turns.give()
        }
        separator = between
        continue
      }
      const bytes = stored ? undefined : Buffer.from(encodeJson(item(shown)))
      const size = separator.length + (bytes?.length ?? sizeOfSplice(stored!, head, start, version))
      if (at + size > piece.length) {
        if (at > 0) yield keep(piece.subarray(0, at))
        piece = Buffer.allocUnsafe(Math.max(pieceSize, size))
        pieceSize = Math.min(4 * pieceSize, PIECE)
        at = 0
      }
      at += separator.copy(piece, at)
      at = stored ? spliceInto(piece, at, stored, head, start, version) : at + bytes!.copy(piece, at)
      separator = between
      // Items that are not copied take long: their objects are parsed.
      if (!stored && turns.isDue()) await turns.give()
    }
  }
  if (at > 0) yield keep(piece.subarray(0, at))
  if (kept && kept.length > 0) known!.keep(kept)
  yield separator === opening ? emptyList(list) : closing
}

const NO_BYTES = Buffer.alloc(0)

interface Frame {
  readonly opening: Buffer
  readonly between: Buffer
  readonly closing: Buffer
}

/** The bytes before, between and after items. */
function frameOf({ head, member, pretty }: JsonList): Frame {
  const text = encodeJson({ ...head, [member]: [] }, { pretty })
  const inside = text.lastIndexOf('[]') + 1
  const line = pretty ? `\n${INDENT}` : ''
  return {
    opening: Buffer.from(text.slice(0, inside) + line),
    between: Buffer.from(`,${line}`),
    closing: Buffer.from((pretty ? '\n  ' : '') + text.slice(inside) + (pretty ? '' : '\n')),
  }
}

function emptyList({ head, member, pretty, nullWhenEmpty }: JsonList): Buffer {
  const text = encodeJson({ ...head, [member]: nullWhenEmpty ? null : [] }, { pretty })
  return Buffer.from(pretty ? text : `${text}\n`)
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
