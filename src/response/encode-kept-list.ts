// A list in another format than plain JSON, of which the items are kept as JSON: they are encoded once, and kept in the new
// format beside the JSON.

import { startTurns } from '../base/turns.js'
import { decodeWrittenJson, encodeJson } from '../codec/json.js'
import type { VersionedKind } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { IncludeObject } from '../meta/table.js'
import type { ValueObject } from '../meta/values/value.js'
import { type Gathering, type ListPiece, type PieceForm } from '../objects/object-store.js'
import { viewValue } from '../objects/object-view.js'
import type { KeptItems, ListResult } from '../verbs/result.js'
import { emptyList, encodeJsonList, frameOf, type ListShape } from './encode-list.js'
import { encodeListPieces, type MeasuredFrame, measuredFrame } from './encode-list-pieces.js'
import { encodeValue } from './encode-value.js'
import { type KeptRows, keptRows, withAges } from './kept-rows.js'
import type { OutputFormat, ShownAs } from './output-format.js'

export interface KeptList {
  readonly shape: ListShape
  readonly served: VersionedKind
  readonly form: OutputFormat
  readonly include: IncludeObject
  readonly now: number
}

/** Undefined if items are not kept in this format, or if they are not kept at all. */
export function encodeKeptList(
  list: KeptList,
  { kept, keep, pages }: Pick<ListResult, 'kept' | 'keep' | 'pages'>,
): AsyncIterable<Buffer> | undefined {
  const encoder = encoderOf(list)
  if (!encoder) return undefined
  if (kept) return encoder(kept)
  return keep && encodeAndKeep(list, encoder, { keep, pages })
}

type Encoder = (kept: KeptItems) => AsyncIterable<Buffer>

function encoderOf(list: KeptList): Encoder | undefined {
  const { encoding, as, pretty } = list.form
  if (encoding === 'json') {
    if (!as || pretty) return undefined
    return kept => encodeJsonPieces(list, as, kept)
  }
  if (encoding === 'yaml' || as?.kind === 'Table') return undefined
  const frame = measuredFrame(list.shape, encoding)
  return kept => encodeMeasuredPieces(list, frame, kept)
}

/** Reads the list once as JSON, which is kept. If it is too long for that, it is encoded while it is read again. */
async function* encodeAndKeep(
  list: KeptList,
  encoder: Encoder,
  { keep, pages }: Pick<ListResult, 'pages'> & { readonly keep: NonNullable<ListResult['keep']> },
): AsyncGenerator<Buffer> {
  const { shape, form } = list
  let kept: KeptItems | undefined
  const keeping = (pieces: readonly ListPiece[]): KeptItems => (kept = keep(pieces))
  let isGathered = false
  const gather = (drop: () => void): Gathering | undefined => {
    const gathering = keep.gather(() => {
      isGathered = false
      drop()
    })
    isGathered = gathering !== undefined
    const end = (): void => {
      isGathered = false
      gathering?.end()
    }
    return gathering && { ...gathering, end }
  }
  const copies = { kind: list.served.kind, keep: Object.assign(keeping, { gather }) }
  const turns = startTurns()
  for await (const _ of encodeJsonList({ shape, pages, copies, pretty: false })) {
    if (!isGathered) break
    if (turns.isDue()) await turns.give()
  }
  if (kept) yield* encoder(kept)
  else if (form.encoding === 'json') yield* encodeJsonList({ shape, pages, pretty: form.pretty })
  else yield* encodeListPieces(shape, pages, form.encoding)
}

// ---- JSON: rows of a Table, or metadata only

interface RowsForm extends PieceForm {
  /** Undefined if the rows cannot be sent again. */
  readonly rows: KeptRows | undefined
}

async function* encodeJsonPieces(list: KeptList, as: ShownAs, kept: KeptItems): AsyncGenerator<Buffer> {
  const { shape, include, now, served } = list
  const name = ['json', as.kind, as.apiVersion, include].join(' ')
  const turns = startTurns()
  const { opening, between, closing } = frameOf(shape, false)
  let isFirst = true
  for (const piece of kept.pieces) {
    let known = piece.forms?.get(name) as RowsForm | undefined
    if (!known) kept.addForm(piece, name, (known = rowsForm(list, as, objectsOf(served, piece))))
    const bytes = known.rows ? withAges(known.rows, now) : printed(shape, objectsOf(served, piece))
    if (isFirst) yield opening
    yield isFirst ? bytes.subarray(between.length) : bytes
    isFirst = false
    if (turns.isDue()) await turns.give()
  }
  yield isFirst ? emptyList(shape, false) : closing
}

function rowsForm({ shape, served, include }: KeptList, as: ShownAs, objects: readonly ApiObject[]): RowsForm {
  const isTable = as.kind === 'Table'
  const rows = isTable
    ? keptRows(objects, as, served.version, include)
    : { bytes: printed(shape, objects), ages: NO_AGES }
  return { rows, size: FORM_BYTES + (rows ? rows.bytes.length + rows.ages.byteLength : 0) }
}

/** The items with a comma before each. */
const printed = ({ item }: ListShape, objects: readonly ApiObject[]): Buffer =>
  Buffer.from(objects.map(object => `,${encodeJson(item(viewValue(object)))}`).join(''))

const NO_AGES = new Float64Array(0)
/** The approximate memory of what is kept beside the bytes. */
const FORM_BYTES = 256

/** The items of a piece as they are read from the store: with their types, and with the resourceVersion as the last metadata. */
function objectsOf({ kind, version }: VersionedKind, { bytes }: ListPiece): readonly ApiObject[] {
  const text = Buffer.concat([bytes, CLOSE_LIST])
  text[0] = OPEN_LIST // in the place of a comma
  const type = { apiVersion: apiVersionOf(kind, version.name), kind: kind.names.kind }
  const objects: ApiObject[] = []
  for (const item of decodeWrittenJson(text) as ApiObject[]) {
    const { resourceVersion, ...metadata } = item.metadata
    objects.push({ ...type, ...item, metadata: { ...metadata, resourceVersion: resourceVersion! } })
  }
  return objects
}

const OPEN_LIST = 0x5b
const CLOSE_LIST = Buffer.from(']')

// ---- CBOR and protobuf

interface BytesForm extends PieceForm {
  readonly bytes: Buffer
}

async function* encodeMeasuredPieces(list: KeptList, frame: MeasuredFrame, kept: KeptItems): AsyncGenerator<Buffer> {
  const {
    form: { as, encoding },
    shape: { head, item, member, nullWhenEmpty },
    served,
  } = list
  const name = [encoding, as?.kind, as?.apiVersion].join(' ')
  const turns = startTurns()
  const pieces: Buffer[] = []
  let count = 0
  let length = 0
  for (const piece of kept.pieces) {
    let form = piece.forms?.get(name) as BytesForm | undefined
    if (!form) {
      const items = objectsOf(served, piece).map(object => frame.item(item(viewValue(object))))
      const bytes = Buffer.concat(items)
      form = { bytes, size: FORM_BYTES + bytes.length }
      kept.addForm(piece, name, form)
    }
    pieces.push(form.bytes)
    count += piece.keys.length
    length += form.bytes.length
    if (turns.isDue()) await turns.give()
  }
  if (count === 0) {
    const empty: ValueObject = { ...head, [member]: nullWhenEmpty ? null : [] }
    return yield encodeValue(empty, { encoding, pretty: false })
  }
  const { before, after } = frame.around(count, length)
  yield before
  yield* pieces
  yield after
}
