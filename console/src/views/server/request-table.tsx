// Requests by verb and resource, and webhooks, with counts, failures and latency.
import { useState } from 'preact/hooks'
import type { RequestRow, WebhookRow } from '../../api/console-api.js'
import { type PlainColumn, PlainTable } from '../../ui/plain-table.js'

type Order = 'count' | 'errors' | 'p99Ms'

const ORDERS: readonly { readonly id: Order; readonly title: string }[] = [
  { id: 'count', title: 'most requests' },
  { id: 'errors', title: 'most errors' },
  { id: 'p99Ms', title: 'slowest' },
]

const failed = (count: number): string | undefined => (count > 0 ? 'refused' : undefined)

const REQUEST_COLUMNS: readonly PlainColumn<RequestRow>[] = [
  { title: 'Verb', cell: ({ verb }) => verb },
  { title: 'Resource', cell: row => nameOf(row) },
  { title: 'Count', end: true, cell: ({ count }) => count.toLocaleString('en-US') },
  { title: 'Errors', end: true, tone: ({ errors }) => failed(errors), cell: ({ errors }) => errors || '' },
  {
    title: 'Codes',
    tone: () => 'muted',
    cell: ({ codes }) =>
      Object.entries(codes)
        .map(([code, count]) => `${code}×${count}`)
        .join(' '),
  },
  { title: 'Mean', end: true, cell: ({ meanMs }) => printMs(meanMs) },
  { title: 'p50', end: true, cell: ({ p50Ms }) => printMs(p50Ms) },
  { title: 'p99', end: true, cell: ({ p99Ms }) => printMs(p99Ms) },
]

export function RequestTable({ rows }: { readonly rows: readonly RequestRow[] }) {
  const [order, setOrder] = useState<Order>('count')
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>Requests since the start</h2>
        <label class="inline">
          Order{' '}
          <select value={order} onChange={event => setOrder(event.currentTarget.value as Order)}>
            {ORDERS.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <PlainTable
        label="Requests by verb and resource"
        columns={REQUEST_COLUMNS}
        rows={rows.toSorted((a, b) => (b[order] ?? 0) - (a[order] ?? 0))}
        keyOf={row => [row.verb, row.group, row.version, row.resource, row.subresource].join('/')}
        limited
      />
    </section>
  )
}

function nameOf({ group, resource, subresource }: RequestRow): string {
  if (resource === '') return subresource === '' ? 'other paths' : subresource
  return `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`
}

const printMs = (ms: number | undefined): string =>
  ms === undefined ? '' : ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`

const WEBHOOK_COLUMNS: readonly PlainColumn<WebhookRow>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Calls', end: true, cell: ({ calls }) => calls },
  { title: 'Failures', end: true, tone: ({ failures }) => failed(failures), cell: ({ failures }) => failures || '' },
  { title: 'Refused requests', end: true, cell: ({ rejections }) => rejections || '' },
  { title: 'Ignored failures', end: true, cell: ({ failedOpen }) => failedOpen || '' },
  { title: 'Mean', end: true, cell: ({ meanMs }) => printMs(meanMs) },
  { title: 'p99', end: true, cell: ({ p99Ms }) => printMs(p99Ms) },
]

export function WebhookTable({ rows }: { readonly rows: readonly WebhookRow[] }) {
  return (
    <section class="panel">
      <h2>Admission webhooks</h2>
      {rows.length === 0 ? (
        <p class="muted">No webhook has been called.</p>
      ) : (
        <PlainTable
          label="Admission webhooks"
          columns={WEBHOOK_COLUMNS}
          rows={rows}
          keyOf={({ type, name }) => `${type} ${name}`}
        />
      )}
    </section>
  )
}
