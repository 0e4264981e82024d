// The rows of a table that is kept by a watch: events change rows in place, and only rows whose place can have changed are
// ordered again. One call of `view` a frame serves a thousand events a second.
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
  /** Rows that the next view takes out of the order and puts in again if they are still there; undefined: all of them. */
  let moved: Set<Row> | undefined
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
      moved?.add(added)
      return
    }
    existing.metadata = metadata
    existing.cells = row.cells
    existing.changedAt = changedAt
    existing.search = undefined
    if (moved === undefined) return
    const isFit = fits(existing, words)
    if (isFit !== existing.isShown || (isFit && sortKeyOf(existing, order) !== existing.sortKey)) moved.add(existing)
  }

  const compare = (a: Row, b: Row): number => {
    const sign = order.descending ? -1 : 1
    return sign * compareKeys(a.sortKey, b.sortKey) || compareKeys(a.tieKey, b.tieKey)
  }

  /** Those of the rows that are shown, in order. */
  const ordering = (some: Iterable<Row>): readonly Row[] => {
    const found: Row[] = []
    for (const row of some) {
      row.isShown = rows.get(row.key) === row && fits(row, words)
      if (!row.isShown) continue
      row.sortKey = sortKeyOf(row, order)
      found.push(row)
    }
    return found.toSorted(compare)
  }

  return {
    columns: () => columns,
    size: () => rows.size,
    all: () => rows.values(),
    addPage({ columnDefinitions, rows: listed }, first) {
      if (first) {
        rows.clear()
        moved = undefined
      }
      if (columnDefinitions != null) columns = columnDefinitions
      for (const row of listed ?? []) put(row, 0)
    },
    applyEvent(type, { columnDefinitions, rows: changed }, at) {
      if (columnDefinitions != null && columnDefinitions.length > 0) columns = columnDefinitions
      for (const row of changed ?? []) {
        const { name, namespace = '' } = row.object.metadata
        if (type === 'DELETED') {
          const gone = rows.get(`${namespace}/${name}`)
          if (gone === undefined) continue
          rows.delete(gone.key)
          moved?.add(gone)
        } else if (type !== 'BOOKMARK') put(row, at)
      }
    },
    view(text, sort) {
      if (text !== filterText) {
        filterText = text
        words = text.toLowerCase().split(/\s+/).filter(Boolean)
        moved = undefined
      }
      if (sort.column !== order.column || sort.descending !== order.descending) {
        order = sort
        moved = undefined
      }
      if (moved === undefined) ordered = ordering(rows.values())
      else if (moved.size > 0) {
        const changed = moved
        ordered = mergeRows(
          ordered.filter(row => !changed.has(row)),
          ordering(changed),
          compare,
        )
      }
      moved = new Set()
      return ordered
    },
  }
}

/** Two lists that are in order, as one. */
function mergeRows(some: readonly Row[], more: readonly Row[], compare: (a: Row, b: Row) => number): readonly Row[] {
  if (more.length === 0) return some
  const all: Row[] = []
  let next = 0
  for (const row of some) {
    while (next < more.length && compare(more[next]!, row) < 0) all.push(more[next++]!)
    all.push(row)
  }
  for (; next < more.length; next++) all.push(more[next]!)
  return all
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
