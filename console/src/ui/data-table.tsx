// A table of any number of rows, of which only those in sight are in the document. A grid by the pattern of ARIA: the
// focus stays on the grid, and the active row is announced.
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

export interface DataColumn<Row> {
  readonly id: string
  readonly title: string
  readonly description?: string | undefined
  /** At least so many pixels, and its share of what is left. */
  readonly width: readonly [pixels: number, share: number]
  readonly align?: 'end'
  readonly sortable?: boolean
  /** Asked again only when the row has changed: what changes by itself, as an age, is a component. */
  readonly cell: (row: Row) => ComponentChildren
}

interface DataTableProps<Row> {
  readonly label: string
  readonly columns: readonly DataColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Another one after each change of a row: rows are reused. */
  readonly versionOf?: (row: Row) => unknown
  readonly sort?: { readonly column: string; readonly descending: boolean } | undefined
  readonly onSort?: (column: string) => void
  readonly active: number
  readonly onActive: (index: number) => void
  readonly onOpen?: (row: Row) => void
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (row: Row, options: { range: boolean }) => void
  readonly onSelectAll?: () => void
  readonly rowClass?: (row: Row) => string
}

export const ROW_HEIGHT = 30
/** Rows beyond the edges, so that a fast scroll finds them drawn. */
const MARGIN = 12
const SELECT_WIDTH = 34

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, sort, onSort, active, selected, onSelectAll } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const widths = useMemo(() => gridOf(columns, selected !== undefined), [columns, selected !== undefined])
  // Rows are drawn again only when something of theirs has changed, so that what they call stays the same.
  const latest = useRef(props)
  latest.current = props
  const handlers = useMemo(
    (): RowHandlers<Row> => ({
      activate: index => latest.current.onActive(index),
      open: row => latest.current.onOpen?.(row),
      select: (row, range) => latest.current.onSelect?.(row, { range }),
    }),
    [],
  )

  useLayoutEffect(() => {
    const element = scroller.current!
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])

  // Keeps the active row in sight when keys move it.
  useEffect(() => {
    const element = scroller.current!
    if (active < 0) return
    const top = active * ROW_HEIGHT
    const visible = element.clientHeight - ROW_HEIGHT
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + ROW_HEIGHT > element.scrollTop + visible) element.scrollTop = top + ROW_HEIGHT - visible
  }, [active])

  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - MARGIN)
  const end = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + MARGIN)
  const allSelected = selected !== undefined && rows.length > 0 && selected.size >= rows.length
  const activeRow = rows[active]
  return (
    <div
      ref={scroller}
      class="data-table"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length + (selected === undefined ? 0 : 1)}
      aria-multiselectable={selected === undefined ? undefined : 'true'}
      aria-activedescendant={
        activeRow === undefined || active < first || active >= end ? undefined : `row-${keyOf(activeRow)}`
      }
      style={widths}
    >
      <div class="data-head" role="row" aria-rowindex={1}>
        {selected !== undefined && (
          <div role="columnheader" class="select-cell">
            <input
              type="checkbox"
              aria-label="Select all"
              tabIndex={-1}
              checked={allSelected}
              onChange={() => onSelectAll?.()}
            />
          </div>
        )}
        {columns.map(({ id, title, description, align, sortable = true }) => {
          const isSorted = sort?.column === id
          const order = isSorted ? (sort.descending ? 'descending' : 'ascending') : sortable ? 'none' : undefined
          return (
            <div key={id} role="columnheader" aria-sort={order} class={align} title={description}>
              {sortable && onSort !== undefined ? (
                <button type="button" tabIndex={-1} onClick={() => onSort(id)}>
                  {title}
                  <span class="sort-mark" aria-hidden="true">
                    {isSorted ? (sort.descending ? '↓' : '↑') : ''}
                  </span>
                </button>
              ) : (
                title
              )}
            </div>
          )
        })}
      </div>
      <div class="data-body" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
        {rows.slice(first, end).map((row, offset) => {
          const key = keyOf(row)
          return (
            <DataRow
              key={key}
              id={key}
              row={row}
              version={props.versionOf?.(row)}
              columns={columns}
              index={first + offset}
              tone={props.rowClass?.(row) ?? ''}
              isActive={first + offset === active}
              isSelected={selected?.has(key)}
              handlers={handlers}
            />
          )
        })}
      </div>
    </div>
  )
}

/** The columns as variables of the style. Every row is as wide as all columns need, so that they are in line. */
function gridOf(columns: readonly DataColumn<never>[], selectable: boolean): Record<string, string> {
  const first = selectable ? SELECT_WIDTH : 0
  const least = columns.reduce((sum, { width: [pixels] }) => sum + pixels, first)
  const tracks = columns.map(({ width: [pixels, share] }) =>
    share === 0 ? `${pixels}px` : `minmax(${pixels}px, ${share}fr)`,
  )
  return { '--columns': [...(selectable ? [`${first}px`] : []), ...tracks].join(' '), '--least': `${least}px` }
}

interface RowHandlers<Row> {
  readonly activate: (index: number) => void
  readonly open: (row: Row) => void
  readonly select: (row: Row, range: boolean) => void
}

interface DataRowProps<Row> {
  readonly id: string
  readonly row: Row
  readonly version: unknown
  readonly columns: readonly DataColumn<Row>[]
  readonly index: number
  readonly tone: string
  readonly isActive: boolean
  /** Undefined where rows cannot be selected. */
  readonly isSelected: boolean | undefined
  readonly handlers: RowHandlers<Row>
}

/** A class, because only a class can say that it need not be drawn again. */
class DataRow<Row> extends Component<DataRowProps<Row>> {
  override shouldComponentUpdate(next: DataRowProps<Row>): boolean {
    const { row, version, columns, index, tone, isActive, isSelected } = this.props
    return (
      next.row !== row ||
      next.version !== version ||
      next.columns !== columns ||
      next.index !== index ||
      next.tone !== tone ||
      next.isActive !== isActive ||
      next.isSelected !== isSelected
    )
  }

  override render({ id, row, columns, index, tone, isActive, isSelected, handlers }: DataRowProps<Row>) {
    return (
      <div
        id={`row-${id}`}
        role="row"
        class={`data-row ${tone}${isActive ? ' active' : ''}${isSelected === true ? ' selected' : ''}`}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        style={{ top: `${index * ROW_HEIGHT}px` }}
        onMouseDown={() => handlers.activate(index)}
        onDblClick={() => handlers.open(row)}
      >
        {isSelected !== undefined && (
          <div role="gridcell" class="select-cell">
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={`Select ${id}`}
              checked={isSelected}
              onClick={event => handlers.select(row, event.shiftKey)}
            />
          </div>
        )}
        {columns.map(({ id: column, align, cell }) => (
          <div key={column} role="gridcell" class={align}>
            {cell(row)}
          </div>
        ))}
      </div>
    )
  }
}
