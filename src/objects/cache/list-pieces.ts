// The encoded items of a list, in pieces of some items each. A change of one object replaces the piece that it is in, and
// leaves the others as they are: responses that are being sent keep the pieces with which they began.
import { compareKeys } from '../../storage/keys.js'

/** Consecutive items. Each has a comma before it, so that they can be put together in any way. */
export interface ListPiece {
  readonly bytes: Buffer
  /** The keys of the items, and where each begins. */
  readonly keys: readonly string[]
  readonly starts: readonly number[]
  /** The same items in other formats, by the name of the format, made when they were first requested. */
  forms?: Map<string, PieceForm>
}

/** The items of a piece in another format than JSON. */
export interface PieceForm {
  /** The memory that it takes. */
  readonly size: number
}

/** Items by key; undefined for those that are no longer there. */
export type ChangedItems = ReadonlyMap<string, Buffer | undefined>

/** A piece that has grown beyond this is divided. */
const MAX_PIECE = 128 * 1024

/** The approximate memory of a key. */
const KEY_BYTES = 128

export function replaceItems(pieces: readonly ListPiece[], changed: ChangedItems): readonly ListPiece[] {
  const keys = [...changed.keys()].toSorted(compareKeys)
  if (keys.length === 0) return pieces
  let next = 0
  const replaced = pieces.flatMap((piece, i) => {
    const first = next
    const last = piece.keys.at(-1)!
    while (next < keys.length && compareKeys(keys[next]!, last) <= 0) next++
    // What comes after all pieces belongs to the last one.
    if (i === pieces.length - 1) next = keys.length
    return next === first ? piece : divide(replaceIn(piece, keys.slice(first, next), changed))
  })
  return pieces.length > 0 ? replaced : divide(replaceIn(NO_ITEMS, keys, changed))
}

const NO_ITEMS: ListPiece = { bytes: Buffer.alloc(0), keys: [], starts: [] }

function replaceIn(piece: ListPiece, changedKeys: readonly string[], changed: ChangedItems): ListPiece {
  const keys: string[] = []
  const items: Buffer[] = []
  const add = (key: string, item: Buffer | undefined): void => {
    if (!item) return
    keys.push(key)
    items.push(item)
  }
  let at = 0
  for (const key of changedKeys) {
    for (; at < piece.keys.length && compareKeys(piece.keys[at]!, key) < 0; at++)
      add(piece.keys[at]!, itemOf(piece, at))
    if (piece.keys[at] === key) at++
    add(key, changed.get(key))
  }
  for (; at < piece.keys.length; at++) add(piece.keys[at]!, itemOf(piece, at))
  return pieceOf(keys, items)
}

const itemOf = ({ bytes, starts }: ListPiece, at: number): Buffer => bytes.subarray(starts[at], starts[at + 1])

function pieceOf(keys: readonly string[], items: readonly Buffer[]): ListPiece {
  const starts: number[] = []
  let size = 0
  for (const { length } of items) {
    starts.push(size)
    size += length
  }
  return { bytes: Buffer.concat(items, size), keys, starts }
}

/** Large pieces become two, and empty ones none. */
function divide(piece: ListPiece): readonly ListPiece[] {
  const { bytes, keys } = piece
  if (keys.length === 0) return []
  if (bytes.length <= MAX_PIECE || keys.length === 1) return [piece]
  const items = keys.map((_, i) => itemOf(piece, i))
  const half = keys.length >> 1
  return [pieceOf(keys.slice(0, half), items.slice(0, half)), pieceOf(keys.slice(half), items.slice(half))].flatMap(
    divide,
  )
}

/** The memory that pieces take, with all their forms. */
export const sizeOfPieces = (pieces: readonly ListPiece[]): number =>
  pieces.reduce(
    (size, { bytes, keys, forms }) => size + bytes.buffer.byteLength + keys.length * KEY_BYTES + sizeOfForms(forms),
    0,
  )

function sizeOfForms(forms: ListPiece['forms']): number {
  let size = 0
  if (forms) for (const form of forms.values()) size += form.size
  return size
}
