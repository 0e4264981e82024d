// Tables, which kubectl prints, and PartialObjectMetadata, for controllers that only need metadata.
import { fieldInvalid, printFieldError } from './errors/field-errors.js'
import { badRequest } from './errors/status.js'
import { META_FIELDS } from './object/object-meta.js'
import { queryText } from './options/query.js'
import { humanDuration, millisOf } from './values/time.js'
import { getOwn, isObject, type Value, type ValueObject } from './values/value.js'

export interface Table {
  readonly kind: 'Table'
  readonly apiVersion: 'meta.k8s.io/v1'
  readonly metadata: ListMeta
  /** Null in all but the first event of a watch. */
  readonly columnDefinitions: readonly TableColumn[] | null
  readonly rows: readonly TableRow[]
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  /** `name` marks the column with the name of the row. */
  readonly format: string
  readonly description: string
  /** 0 is always shown, higher ones only in wide output. */
  readonly priority: number
}

export interface TableRow {
  readonly cells: readonly Value[]
  readonly object: Value
}

export interface ListMeta {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** How much of the object is included in each row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** The `includeObject` parameter; Metadata by default. */
export function parseIncludeObject(query: URLSearchParams): IncludeObject {
  const requested = queryText(query, 'includeObject')
  if (requested === '') return 'Metadata'
  if (requested === 'None' || requested === 'Metadata' || requested === 'Object') return requested
  const error = fieldInvalid('includeObject', requested, "must be 'Metadata', 'Object', 'None', or empty")
  throw badRequest(`Unable to convert to Table as requested: ${printFieldError(error)}`)
}

export const tableOf = (
  columns: readonly TableColumn[] | null,
  rows: readonly TableRow[],
  metadata: ListMeta = {},
): Table => ({
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: listMeta(metadata),
  columnDefinitions: columns,
  rows,
})

export const tableRow = (cells: readonly Value[], object: ValueObject, include: IncludeObject): TableRow => ({
  cells,
  object: include === 'None' ? null : include === 'Object' ? object : partialObjectMetadata(object),
})

/** The type and metadata of an object. */
export const partialObjectMetadata = (object: ValueObject): ValueObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: inOrder(getOwn(object, 'metadata')),
})

export const partialObjectMetadataList = (objects: readonly ValueObject[], metadata: ListMeta): ValueObject => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { ...listMeta(metadata) },
  items: objects.map(partialObjectMetadata),
})

/** The age of an object in a cell; `<unknown>` without a creation time. */
export function ageCell(creationTimestamp: Value | undefined, now: number): string {
  const created = typeof creationTimestamp === 'string' ? millisOf(creationTimestamp) : Number.NaN
  return Number.isNaN(created) ? '<unknown>' : humanDuration(now - created)
}

/** The metadata of a list without its empty members. */
export const listMeta = ({ resourceVersion, continue: next, remainingItemCount }: ListMeta): ListMeta => ({
  ...(resourceVersion ? { resourceVersion } : {}),
  ...(next ? { continue: next } : {}),
  ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
})

/** Typed metadata has the order of its fields in Go. */
function inOrder(metadata: Value | undefined): ValueObject {
  if (!isObject(metadata)) return {}
  const ordered: ValueObject = {}
  for (const field of META_FIELDS) {
    const value = getOwn(metadata, field)
    if (value !== undefined) ordered[field] = value
  }
  return ordered
}
