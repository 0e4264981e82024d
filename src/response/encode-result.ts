// The result of a verb as bytes in the negotiated format.

import { encodeJson } from '../codec/json.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import type { Status } from '../meta/errors/status.js'
import type { IncludeObject, ListMeta } from '../meta/table.js'
import type { ValueObject } from '../meta/values/value.js'
import { splice } from '../objects/splice.js'
import type { ListResult, ObjectResult, Result } from '../verbs/result.js'
import { encodeKeptList } from './encode-kept-list.js'
import { encodeJsonList, encodeShortList, itemOf, type ListShape } from './encode-list.js'
import { encodeListPieces } from './encode-list-pieces.js'
import { encodeInPieces, encodeValue, statusValue } from './encode-value.js'
import { MEDIA_TYPES, type OutputFormat } from './output-format.js'
import {
  includeObjectOf,
  isTyped,
  metadataOf,
  PLAIN_ROWS,
  refuseList,
  refuseObject,
  rowOf,
  SCALE_ROWS,
  tableHead,
  transformObject,
} from './table.js'

export interface EncodedResponse {
  readonly status: number
  readonly mediaType: string
  /** A long list comes in pieces. */
  readonly body: Buffer | AsyncIterable<Buffer>
  /** How many bytes are in memory while it comes, beside the pieces themselves. */
  readonly retained?: (() => number) | undefined
}

/** The query has `includeObject`, which decides what the rows of a Table contain. */
export function encodeResult(answer: Result, form: OutputFormat, query: URLSearchParams, now: number): EncodedResponse {
  const include = includeObjectOf(form, query)
  return {
    status: answer.status,
    mediaType: MEDIA_TYPES[form.encoding],
    body: bodyOf(answer, form, include, now),
    retained: answer.type === 'list' ? answer.pages.retained : undefined,
  }
}

/** A Status in the negotiated format, or in indented JSON if there is none. */
export function encodeStatus(status: Status, form: OutputFormat | undefined): { mediaType: string; body: Buffer } {
  const value = statusValue(status)
  if (!form) return { mediaType: MEDIA_TYPES.json, body: Buffer.from(encodeJson(value, { pretty: true })) }
  return { mediaType: MEDIA_TYPES[form.encoding], body: encodeValue(value, form) }
}

function bodyOf(
  answer: Result,
  form: OutputFormat,
  include: IncludeObject,
  now: number,
): Buffer | AsyncIterable<Buffer> {
  switch (answer.type) {
    case 'status':
      return encodeValue(statusValue(answer.body), form)
    case 'scale':
      refuseObject(form.as, undefined)
      return encodeInPieces(transformObject(answer.object, form.as, SCALE_ROWS, include, now), form)
    case 'virtual':
      refuseObject(form.as, undefined)
      return encodeInPieces(transformObject(answer.object, form.as, PLAIN_ROWS, include, now), form)
    case 'object':
      return encodeObjectResult(answer, form, include, now)
    case 'list':
      return encodeList(answer, form, include, now)
  }
}

const NEWLINE = Buffer.from('\n')

function encodeObjectResult(
  { versioned: served, object }: ObjectResult,
  form: OutputFormat,
  include: IncludeObject,
  now: number,
): Buffer | AsyncIterable<Buffer> {
  const { entry, head } = object
  if (entry && form.encoding === 'json' && !form.as && !form.pretty) {
    return splice(entry, head, head, NEWLINE)
  }
  refuseObject(form.as, served)
  return encodeInPieces(transformObject(object.value(), form.as, served.version, include, now), form)
}

// ---- lists

function encodeList(
  answer: ListResult,
  form: OutputFormat,
  include: IncludeObject,
  now: number,
): Buffer | AsyncIterable<Buffer> {
  refuseList(form.as, answer.versioned)
  const shape = shapeOf(answer, form, include, now)
  const { pages, versioned } = answer
  const { encoding, pretty } = form
  if (encoding === 'json' && !form.as && !pretty) {
    const list = { shape, pages, pretty, copies: { kind: versioned.kind, kept: answer.kept, keep: answer.keep } }
    return encodeShortList(list) ?? encodeJsonList(list)
  }
  const again = encodeKeptList({ shape, served: versioned, form, include, now }, answer)
  if (again) return again
  return encoding === 'json' ? encodeJsonList({ shape, pages, pretty }) : encodeListPieces(shape, pages, encoding)
}

function shapeOf(answer: ListResult, { as }: OutputFormat, include: IncludeObject, now: number): ListShape {
  const { versioned: served } = answer
  if (as?.kind === 'Table') {
    const { version } = served
    const item: ListShape['item'] = shown => rowOf(shown.value(), as, version, include, now)
    const head = tableHead(as, version.columns, typedMetadata(answer))
    return { head, member: 'rows', item, nullWhenEmpty: served.kind.traits.nullEmptyRows === true }
  }
  if (as) {
    const { kind, apiVersion } = as
    const head = { kind, apiVersion, metadata: typedMetadata(answer) }
    return { head, member: 'items', item: shown => metadataOf(shown.value(), as), nullWhenEmpty: true }
  }
  const head = {
    kind: served.kind.names.listKind,
    apiVersion: apiVersionOf(served.kind, served.version.name),
    metadata: isTyped(served) ? typedMetadata(answer) : untypedMetadata(answer),
  }
  return { head, member: 'items', item: itemOf(served), nullWhenEmpty: false }
}

function typedMetadata({ revision, continueToken, remaining }: ListResult): ValueObject & ListMeta {
  const metadata: ValueObject = {}
  if (revision !== undefined) metadata['resourceVersion'] = String(revision)
  if (continueToken) metadata['continue'] = continueToken
  if (remaining !== undefined) metadata['remainingItemCount'] = remaining
  return metadata
}

/** Lists of custom objects have an empty `continue` at their end; those of built-in ones omit it. */
function untypedMetadata({ revision, continueToken = '', remaining }: ListResult): ValueObject {
  const metadata: ValueObject = { continue: continueToken }
  if (remaining !== undefined) metadata['remainingItemCount'] = remaining
  metadata['resourceVersion'] = String(revision)
  return metadata
}
