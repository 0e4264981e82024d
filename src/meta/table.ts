// Lists and objects as a Table, which is what kubectl shows, and as PartialObjectMetadata, which is all that some
// controllers want to know of an object.
import { fieldInvalid, printFieldError } from './errors/field-errors.js'
import { badRequest } from './errors/status.js'
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
  /** `name` marks the column that names the row. */
  readonly format: string
  readonly description: string
  /** 0 is always shown, more only when asked for. */
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

/** How much of the object comes with each row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** The `includeObject` parameter; metadata when it is not given. */
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

/** Only who the object is and what is said about it. */
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

/** The age of an object in a cell; what has no time yet shows `<unknown>`. */
export function ageCell(creationTimestamp: Value | undefined, now: number): string {
  const created = typeof creationTimestamp === 'string' ? millisOf(creationTimestamp) : Number.NaN
  return Number.isNaN(created) ? '<unknown>' : humanDuration(now - created)
}

/** Empty members of the metadata of a list are not written. */
export const listMeta = ({ resourceVersion, continue: next, remainingItemCount }: ListMeta): ListMeta => ({
  ...(resourceVersion ? { resourceVersion } : {}),
  ...(next ? { continue: next } : {}),
  ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
})

/** Typed metadata come in the order of their fields in Go. */
function inOrder(metadata: Value | undefined): ValueObject {
  if (!isObject(metadata)) return {}
  const ordered: ValueObject = {}
  for (const field of META_FIELDS) {
    const value = getOwn(metadata, field)
    if (value !== undefined) ordered[field] = value
  }
  return ordered
}

const META_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]
