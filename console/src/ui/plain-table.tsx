import type { ComponentChildren } from 'preact'

export interface PlainColumn<Row> {
  readonly title: string
  /** Figures stand at the end of their column. */
  readonly end?: boolean
  /** A class of the cell by its value, as for what went wrong. */
  readonly tone?: (row: Row) => string | undefined
  readonly hint?: (row: Row) => string | undefined
  readonly cell: (row: Row) => ComponentChildren
}

interface PlainTableProps<Row> {
  readonly label: string
  readonly columns: readonly PlainColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  /** Scrolls by itself when it is long. */
  readonly limited?: boolean
}

/** A table of few rows, all of them in the document. */
export function PlainTable<Row>({ label, columns, rows, keyOf, limited = false }: PlainTableProps<Row>) {
  return (
    <div class={limited ? 'table-scroll limited' : 'table-scroll'} tabIndex={0} role="region" aria-label={label}>
      <table class="plain-table">
        <thead>
          <tr>
            {columns.map(({ title, end }) => (
              <th key={title} scope="col" class={end ? 'end' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, end, tone, hint, cell }) => (
                <td key={title} class={[end && 'end', tone?.(row)].filter(Boolean).join(' ')} title={hint?.(row)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
