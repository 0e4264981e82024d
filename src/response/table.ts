// Objects as rows of a Table, or as PartialObjectMetadata.

import type { Column } from '../kinds/kind.js'
import { type VersionedKind } from '../kinds/kind.js'
import { notAcceptable, type StatusError, unclassified } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import {
  ageCell,
  type IncludeObject,
  type ListMeta,
  listMeta,
  parseIncludeObject,
  partialObjectMetadata,
} from '../meta/table.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { OutputFormat, ShownAs } from './output-format.js'

/** How rows are made of objects of a kind, or of Scales. */
export interface Rows {
  readonly columns: readonly Column[]
  tableRow(object: ApiObject, now: number): Value[]
  readonly rowConditions?: ((object: ApiObject) => readonly ValueObject[]) | undefined
}

export const SCALE_ROWS: Rows = {
  columns: [
    column('Name', 'string', 'name', 'The name of the object that is scaled.'),
    column('Desired', 'integer', '', 'How many replicas there should be.'),
    column('Available', 'integer', '', 'How many replicas there are.'),
    column('Age', 'date', '', 'How long ago the object was created.'),
  ],
  tableRow: ({ metadata, spec, status }, now) => [
    getOwn(metadata, 'name') ?? '',
    replicas(spec),
    replicas(status),
    ageCell(getOwn(metadata, 'creationTimestamp'), now),
  ],
}

/** The columns of kinds without their own: name and creation time. */
export const PLAIN_ROWS: Rows = {
  columns: [
    column('Name', 'string', 'name', 'The name of the object.'),
    column('Created At', 'date', '', 'When the object was created.'),
  ],
  tableRow: ({ metadata }) => [getOwn(metadata, 'name') ?? '', getOwn(metadata, 'creationTimestamp') ?? null],
}

function column(name: string, type: string, format: string, description: string): Column {
  return { name, type, format, description, priority: 0 }
}

const replicas = (part: Value | undefined): Value => (isObject(part) ? (getOwn(part, 'replicas') ?? 0) : 0)

/** The `includeObject` parameter; other values are refused if a Table is requested. */
export const includeObjectOf = ({ as }: OutputFormat, query: URLSearchParams): IncludeObject =>
  as?.kind === 'Table' ? parseIncludeObject(query) : 'Metadata'

/** One object in the requested kind. */
export function transformObject(
  object: ApiObject,
  as: ShownAs | undefined,
  rows: Rows,
  include: IncludeObject,
  now: number,
): ValueObject {
  switch (as?.kind) {
    case undefined:
      return object
    case 'Table': {
      const version = getOwn(object.metadata, 'resourceVersion')
      const metadata = listMeta(typeof version === 'string' ? { resourceVersion: version } : {})
      return { ...tableHead(as, rows.columns, metadata), rows: [rowOf(object, as, rows, include, now)] }
    }
    case 'PartialObjectMetadata':
      return metadataOf(object, as)
    case 'PartialObjectMetadataList':
      throw new TypeError('one object is no list')
  }
}

/** Refuses kinds that an object or list cannot be converted to. */
export function refuseObject(as: ShownAs | undefined, served: VersionedKind | undefined): void {
  if (as?.kind !== 'PartialObjectMetadataList') return
  throw served && isTyped(served) ? wrongShape(as, 'not a list', served, '') : unclassified('content is not a list')
}

export function refuseList(as: ShownAs | undefined, served: VersionedKind): void {
  if (as?.kind === 'PartialObjectMetadata') throw wrongShape(as, 'a list', served, 'List')
}

const wrongShape = ({ kind }: ShownAs, what: string, served: VersionedKind, suffix: string): StatusError =>
  notAcceptable(`you requested ${kind}, but the requested object is ${what} (${goTypeOf(served, suffix)})`)

/** Kinds that kube-apiserver has as Go types, not as maps. */
export const isTyped = ({ kind }: VersionedKind): boolean => !kind.traits.listItemsHaveTypeMeta

/** The Go type that kube-apiserver has for such objects, for messages. */
function goTypeOf(served: VersionedKind, suffix: string): string {
  if (!isTyped(served)) return `*unstructured.Unstructured${suffix}`
  const { group, names } = served.kind
  return `*${GO_PACKAGES[group] ?? group.split('.')[0]}.${names.kind}${suffix}`
}

const GO_PACKAGES: Readonly<Record<string, string>> = {
  '': 'core',
  'events.k8s.io': 'core',
  'internal.apiserver.k8s.io': 'apiserverinternal',
}

// ---- the parts

/** A Table without its rows. */
export const tableHead = (
  { apiVersion }: ShownAs,
  columns: readonly Column[] | null,
  metadata: ListMeta,
): ValueObject => ({
  kind: 'Table',
  apiVersion,
  metadata: { ...metadata },
  columnDefinitions: columns as Value,
})

export const rowOf = (
  object: ApiObject,
  as: ShownAs,
  rows: Rows,
  include: IncludeObject,
  now: number,
): ValueObject => ({
  cells: rows.tableRow(object, now),
  ...conditionsOf(rows.rowConditions?.(object) ?? []),
  object: include === 'None' ? null : include === 'Object' ? object : metadataOf(object, as),
})

const conditionsOf = (conditions: readonly ValueObject[]): ValueObject =>
  conditions.length === 0 ? {} : { conditions: [...conditions] }

export function metadataOf(object: ApiObject, { apiVersion }: ShownAs): ValueObject {
  const hidden = FIELD_ANNOTATIONS[`${object.apiVersion} ${object.kind}`]
  const shown = hidden === undefined ? object : { ...object, metadata: withoutAnnotations(object.metadata, hidden) }
  return { ...partialObjectMetadata(shown), apiVersion }
}

/**
 * Annotations in the place of fields that a version does not have. kube-apiserver shows the metadata of its internal type,
 * which has the fields instead.
 */
const FIELD_ANNOTATIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  'apps/v1 DaemonSet': new Set(['deprecated.daemonset.template.generation']),
  'autoscaling/v1 HorizontalPodAutoscaler': new Set(
    ['metrics', 'behavior', 'current-metrics', 'conditions'].map(name => `autoscaling.alpha.kubernetes.io/${name}`),
  ),
}

function withoutAnnotations(metadata: ValueObject, hidden: ReadonlySet<string>): ValueObject {
  const annotations = getOwn(metadata, 'annotations')
  if (!isObject(annotations)) return metadata
  const left = Object.entries(annotations).filter(([name]) => !hidden.has(name))
  const { annotations: _, ...rest } = metadata
  return left.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(left) }
}
