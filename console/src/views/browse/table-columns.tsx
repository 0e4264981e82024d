// The columns of the server as columns of the page: widths by content, ages that move, colours for words of state.
import type { Resource } from '../../api/resource.js'
import type { TableColumn } from '../../api/tables.js'
import { objectLink } from '../../links.js'
import { ageOf, exactTime, now } from '../../state/clock.js'
import type { DataColumn } from '../../ui/data-table.js'
import { Link } from '../../ui/link.js'
import type { Row, RowStore, Sort } from './row-store.js'

const SAMPLE = 120
const MAX_LETTERS = 44
/** Pixels of a letter on average. Not `ch`, which differs between the head and the rows. */
const LETTER = 7.5
const PADDING = 28
/** The dot before a word of state. */
const DOT = 14

export function tableColumns(
  store: RowStore,
  resource: Resource,
  { namespaced, wide }: { namespaced: boolean; wide: boolean },
): readonly DataColumn<Row>[] {
  const shown = store
    .columns()
    .map((column, index) => ({ column, index }))
    .filter(({ column }) => wide || (column.priority ?? 0) === 0)
  const sample = [...store.all()].slice(0, SAMPLE)
  const name = shown.filter(({ index }) => index === 0)
  const rest = shown.filter(({ index }) => index !== 0)
  return [
    ...name.map(({ column }) => nameColumn(column, resource, sample)),
    ...(namespaced ? [namespaceColumn(sample)] : []),
    ...rest.map(({ column, index }) => (isAge(column) ? ageColumn(column) : cellColumn(column, index, sample))),
  ]
}

/** The order that a column's header asks for: its id in the address is its name. */
export function sortOf(text: string, columns: readonly TableColumn[]): Sort {
  const descending = text.startsWith('-')
  const name = descending ? text.slice(1) : text
  if (name === 'Namespace') return { column: 'namespace', descending }
  const index = columns.findIndex(column => column.name === name)
  if (index < 0) return { column: 0, descending: false }
  return { column: isAge(columns[index]!) ? 'age' : index, descending }
}

const isAge = ({ name, type }: TableColumn): boolean => name === 'Age' || (type === 'date' && name === 'Created')

function nameColumn({ name, description }: TableColumn, resource: Resource, sample: readonly Row[]): DataColumn<Row> {
  return {
    id: name,
    title: name,
    description,
    width: widthOf(
      name,
      sample.map(row => row.name),
      2,
    ),
    cell: row => (
      <Link to={objectLink(resource, row.namespace, row.name)} class="name" tabIndex={-1} title={row.name}>
        {row.name}
      </Link>
    ),
  }
}

const namespaceColumn = (sample: readonly Row[]): DataColumn<Row> => ({
  id: 'Namespace',
  title: 'Namespace',
  width: widthOf(
    'Namespace',
    sample.map(row => row.namespace),
    1,
  ),
  cell: row => row.namespace,
})

const ageColumn = ({ name, description }: TableColumn): DataColumn<Row> => ({
  id: name,
  title: name,
  description,
  width: [84, 0.5],
  align: 'end',
  cell: ({ metadata: { creationTimestamp } }) => <Age since={creationTimestamp} />,
})

/** A component of its own, so that a second that passes does not draw the row again. */
const Age = ({ since }: { readonly since: string | undefined }) => (
  <span title={since && exactTime(since)}>{ageOf(since, now.value)}</span>
)

function cellColumn(column: TableColumn, index: number, sample: readonly Row[]): DataColumn<Row> {
  const isNumber = column.type === 'integer' || column.type === 'number'
  return {
    id: column.name,
    title: column.name,
    description: column.description,
    width: widthOf(
      column.name,
      sample.map(row => cellText(row.cells[index])),
      1,
      STATE_COLUMN.test(column.name) ? DOT : 0,
    ),
    ...(isNumber && { align: 'end' as const }),
    cell: row => {
      const text = cellText(row.cells[index])
      const tone = toneOf(column.name, text)
      return tone === undefined ? <span title={text}>{text}</span> : <span class={`state ${tone}`}>{text}</span>
    },
  }
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'object') return JSON.stringify(cell)
  return typeof cell === 'string' ? cell : `${cell as number | boolean}`
}

function widthOf(title: string, texts: readonly string[], share: number, more = 0): DataColumn<Row>['width'] {
  const longest = Math.max(title.length + 2, ...texts.map(text => text.length))
  return [Math.round(Math.min(longest, MAX_LETTERS) * LETTER + PADDING + more), share]
}

const GOOD =
  /^(running|active|bound|ready|true|succeeded|complete|completed|healthy|available|established|healthy|synced|ok)$/i
const WARN =
  /^(pending|terminating|creating|containercreating|progressing|unknown|suspended|updating|waiting|released)$/i
const BAD =
  /^(failed|error|crashloopbackoff|imagepullbackoff|errimagepull|oomkilled|evicted|lost|degraded|unhealthy|notready)$/i
const STATE_COLUMN = /^(status|state|phase|ready|health|condition|synced|available|established)$/i

/** Colours for the values of columns that tell a state; others may use the same words for something else. */
export function toneOf(column: string, text: string): 'good' | 'warn' | 'bad' | undefined {
  if (!STATE_COLUMN.test(column)) return undefined
  if (GOOD.test(text)) return 'good'
  if (WARN.test(text)) return 'warn'
  return BAD.test(text) || /^false$/i.test(text) ? 'bad' : undefined
}
