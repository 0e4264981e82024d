// A table of any number of rows, of which only those in sight are in the document. A grid by the pattern of ARIA: the
// focus stays on the grid, and the active row is announced.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface DataColumn<Row> {
  readonly id: string
  readonly title: string
  readonly description?: string | undefined
  /** Of the grid: `minmax(8ch, 2fr)`. */
  readonly width: string
  readonly align?: 'end'
  readonly sortable?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

interface DataTableProps<Row> {
  readonly label: string
  readonly columns: readonly DataColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Changes whenever rows or their content do: arrays are reused. */
  readonly version: number
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

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, sort, onSort, active, onActive, onOpen, selected, onSelect, onSelectAll } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const template = (selected === undefined ? '' : '34px ') + columns.map(({ width }) => width).join(' ')

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
      style={{ '--columns': template }}
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
          const index = first + offset
          const key = keyOf(row)
          const isSelected = selected?.has(key) ?? false
          return (
            <div
              key={key}
              id={`row-${key}`}
              role="row"
              class={`data-row ${props.rowClass?.(row) ?? ''}${index === active ? ' active' : ''}${isSelected ? ' selected' : ''}`}
              aria-rowindex={index + 2}
              aria-selected={selected === undefined ? undefined : isSelected}
              style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
              onMouseDown={() => onActive(index)}
              onDblClick={() => onOpen?.(row)}
            >
              {selected !== undefined && (
                <div role="gridcell" class="select-cell">
                  <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label={`Select ${key}`}
                    checked={isSelected}
                    onClick={event => onSelect?.(row, { range: event.shiftKey })}
                  />
                </div>
              )}
              {columns.map(({ id, align, cell }) => (
                <div key={id} role="gridcell" class={align}>
                  {cell(row)}
                </div>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}
