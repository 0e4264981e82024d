// Requests by verb and resource, and webhooks, with counts, failures and latency.
import { useState } from 'preact/hooks'
import type { RequestRow, WebhookRow } from '../../api/console-api.js'

type Order = 'count' | 'errors' | 'p99Ms'

const ORDERS: readonly { readonly id: Order; readonly title: string }[] = [
  { id: 'count', title: 'most requests' },
  { id: 'errors', title: 'most errors' },
  { id: 'p99Ms', title: 'slowest' },
]

export function RequestTable({ rows }: { readonly rows: readonly RequestRow[] }) {
  const [order, setOrder] = useState<Order>('count')
  const sorted = rows.toSorted((a, b) => (b[order] ?? 0) - (a[order] ?? 0))
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
      <div class="table-scroll limited" tabIndex={0} role="region" aria-label="Requests by verb and resource">
        <table class="plain-table">
          <thead>
            <tr>
              <th>Verb</th>
              <th>Resource</th>
              <th class="end">Count</th>
              <th class="end">Errors</th>
              <th>Codes</th>
              <th class="end">Mean</th>
              <th class="end">p50</th>
              <th class="end">p99</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(row => (
              <tr key={[row.verb, row.group, row.version, row.resource, row.subresource].join('/')}>
                <td>{row.verb}</td>
                <td>{nameOf(row)}</td>
                <td class="end">{row.count.toLocaleString('en-US')}</td>
                <td class={row.errors > 0 ? 'end refused' : 'end'}>{row.errors || ''}</td>
                <td class="muted">
                  {Object.entries(row.codes)
                    .map(([code, count]) => `${code}×${count}`)
                    .join(' ')}
                </td>
                <td class="end">{printMs(row.meanMs)}</td>
                <td class="end">{printMs(row.p50Ms)}</td>
                <td class="end">{printMs(row.p99Ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function nameOf({ group, resource, subresource }: RequestRow): string {
  if (resource === '') return subresource === '' ? 'other paths' : subresource
  return `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`
}

const printMs = (ms: number | undefined): string =>
  ms === undefined ? '' : ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`

export function WebhookTable({ rows }: { readonly rows: readonly WebhookRow[] }) {
  return (
    <section class="panel">
      <h2>Admission webhooks</h2>
      {rows.length === 0 ? (
        <p class="muted">No webhook has been called.</p>
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Admission webhooks">
          <table class="plain-table">
            <thead>
              <tr>
                <th>Name</th>
                <th>Type</th>
                <th class="end">Calls</th>
                <th class="end">Failures</th>
                <th class="end">Refused requests</th>
                <th class="end">Ignored failures</th>
                <th class="end">Mean</th>
                <th class="end">p99</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(row => (
                <tr key={`${row.type} ${row.name}`}>
                  <td>{row.name}</td>
                  <td>{row.type}</td>
                  <td class="end">{row.calls}</td>
                  <td class={row.failures > 0 ? 'end refused' : 'end'}>{row.failures || ''}</td>
                  <td class="end">{row.rejections || ''}</td>
                  <td class="end">{row.failedOpen || ''}</td>
                  <td class="end">{printMs(row.meanMs)}</td>
                  <td class="end">{printMs(row.p99Ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
