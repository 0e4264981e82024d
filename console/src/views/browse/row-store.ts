// The rows of a table that is kept by a watch: events change rows in place, and the order is made again only when an event
// can have changed it. One call of `view` a frame serves a thousand events a second.
import type { ObjectMeta } from '../../api/resource.js'
import type { Table, TableColumn, TableRow } from '../../api/tables.js'

export interface Row {
  /** `namespace/name`; unique in a collection. */
  readonly key: string
  readonly name: string
  readonly namespace: string
  metadata: ObjectMeta
  cells: readonly unknown[]
  /** When it was added or changed by an event; 0 if by a list. */
  changedAt: number
  /** What the text filter looks at; made when it is first needed. */
  search: string | undefined
  sortKey: string | number
  /** Orders rows that are equal otherwise. */
  readonly tieKey: string
  isShown: boolean
}

export interface Sort {
  /** The index of a column, or `age` and `namespace`. */
  readonly column: number | 'age' | 'namespace'
  readonly descending: boolean
}

export interface RowStore {
  readonly columns: () => readonly TableColumn[]
  readonly size: () => number
  readonly addPage: (table: Table, first: boolean) => void
  readonly applyEvent: (type: string, table: Table, at: number) => void
  /** The rows that fit the text, in order. The same array while nothing has changed. */
  readonly view: (text: string, sort: Sort) => readonly Row[]
  readonly all: () => Iterable<Row>
}

export function createRowStore(): RowStore {
  const rows = new Map<string, Row>()
  let columns: readonly TableColumn[] = []
  let ordered: readonly Row[] = []
  let isStale = true
  let words: readonly string[] = []
  let filterText = ''
  let order: Sort = { column: 0, descending: false }

  const put = (row: TableRow, changedAt: number): void => {
    const { metadata } = row.object
    const namespace = metadata.namespace ?? ''
    const key = `${namespace}/${metadata.name}`
    const existing = rows.get(key)
    if (existing === undefined) {
      const added: Row = {
        key,
        name: metadata.name,
        namespace,
        metadata,
        cells: row.cells,
        changedAt,
        search: undefined,
        sortKey: '',
        tieKey: naturalKey(key),
        isShown: false,
      }
      added.sortKey = sortKeyOf(added, order)
      rows.set(key, added)
      isStale = true
      return
    }
    existing.metadata = metadata
    existing.cells = row.cells
    existing.changedAt = changedAt
    existing.search = undefined
    if (isStale) return
    const sortKey = sortKeyOf(existing, order)
    if (sortKey !== existing.sortKey || fits(existing, words) !== existing.isShown) isStale = true
    existing.sortKey = sortKey
  }

  return {
    columns: () => columns,
    size: () => rows.size,
    all: () => rows.values(),
    addPage({ columnDefinitions, rows: listed }, first) {
      if (first) {
        rows.clear()
        isStale = true
      }
      if (columnDefinitions != null) columns = columnDefinitions
      for (const row of listed ?? []) put(row, 0)
    },
    applyEvent(type, { columnDefinitions, rows: changed }, at) {
      if (columnDefinitions != null && columnDefinitions.length > 0) columns = columnDefinitions
      for (const row of changed ?? []) {
        const { name, namespace = '' } = row.object.metadata
        if (type === 'DELETED') {
          if (rows.delete(`${namespace}/${name}`)) isStale = true
        } else if (type !== 'BOOKMARK') put(row, at)
      }
    },
    view(text, sort) {
      if (text !== filterText) {
        filterText = text
        words = text.toLowerCase().split(/\s+/).filter(Boolean)
        isStale = true
      }
      if (sort.column !== order.column || sort.descending !== order.descending) {
        order = sort
        isStale = true
      }
      if (!isStale) return ordered
      const found: Row[] = []
      for (const row of rows.values()) {
        row.isShown = fits(row, words)
        if (!row.isShown) continue
        row.sortKey = sortKeyOf(row, order)
        found.push(row)
      }
      const sign = order.descending ? -1 : 1
      ordered = found.toSorted((a, b) => sign * compareKeys(a.sortKey, b.sortKey) || compareKeys(a.tieKey, b.tieKey))
      isStale = false
      return ordered
    },
  }
}

/** Numbers come before texts. */
function compareKeys(a: string | number, b: string | number): number {
  if (a === b) return 0
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -1 : 1
}

function fits(row: Row, words: readonly string[]): boolean {
  if (words.length === 0) return true
  row.search ??= [
    row.name,
    row.namespace,
    ...row.cells.map(String),
    ...Object.entries(row.metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`),
  ]
    .join('\n')
    .toLowerCase()
  const { search } = row
  return words.every(word => search.includes(word))
}

function sortKeyOf(row: Row, { column }: Sort): string | number {
  if (column === 'age') return -Date.parse(row.metadata.creationTimestamp ?? '') || 0
  if (column === 'namespace') return row.namespace
  const cell = row.cells[column]
  if (typeof cell === 'number') return cell
  return typeof cell === 'string' ? naturalKey(cell) : ''
}

/** `web-9` before `web-10`: numbers in a text are compared as numbers. */
export const naturalKey = (text: string): string => text.replaceAll(/\d+/g, digits => digits.padStart(12, '0'))
