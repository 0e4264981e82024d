// The last requests: who sent them, what was decided, and why.
import type { RecentRequest } from '../../api/console-api.js'
import { parameter, setQuery } from '../../router.js'
import { exactTime } from '../../state/clock.js'
import { Badge } from '../../ui/notice.js'
import { type PlainColumn, PlainTable } from '../../ui/plain-table.js'

const MAX_SHOWN = 200

const COLUMNS: readonly PlainColumn<RecentRequest>[] = [
  { title: 'Time', hint: ({ time }) => exactTime(time), cell: ({ time }) => time.slice(11, 19) },
  {
    title: 'User',
    hint: ({ userAgent }) => userAgent,
    cell: ({ user, impersonator }) => (
      <>
        {user ?? <span class="muted">unknown</span>}
        {impersonator !== undefined && <small> by {impersonator}</small>}
      </>
    ),
  },
  {
    title: 'Request',
    cell: ({ method, path, query }) => (
      <code>
        {method} {path}
        {query === undefined ? '' : `?${query}`}
      </code>
    ),
  },
  {
    title: 'Status',
    end: true,
    cell: ({ status }) => <Badge tone={status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'}>{status}</Badge>,
  },
  { title: 'Took', end: true, cell: ({ milliseconds }) => `${milliseconds.toFixed(1)} ms` },
  { title: 'Decision', tone: () => 'reason', cell: request => reasonOf(request) },
]

export function RecentRequests({ requests }: { readonly requests: readonly RecentRequest[] }) {
  const [text, which] = [parameter('q').toLowerCase(), parameter('which')]
  const found = requests.filter(request => isWanted(request, which) && textOf(request).includes(text))
  const shown = found.slice(-MAX_SHOWN).toReversed()
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>Last requests</h2>
        <input
          type="search"
          aria-label="Filter requests"
          placeholder="user, path, reason"
          value={parameter('q')}
          onInput={event => setQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="Which requests"
          value={which}
          onChange={event => setQuery({ which: event.currentTarget.value })}
        >
          <option value="">all but the console's own</option>
          <option value="refused">refused</option>
          <option value="writes">writes</option>
          <option value="all">all</option>
        </select>
        <span class="muted">
          {shown.length < found.length ? `${shown.length} of ${found.length}` : `${found.length}`} shown
        </span>
      </div>
      <PlainTable label="Last requests" columns={COLUMNS} rows={shown} keyOf={({ seq }) => seq} limited />
    </section>
  )
}

function isWanted({ status, method, path, userAgent = '', query = '' }: RecentRequest, which: string): boolean {
  if (which === 'all') return true
  if (which === 'refused') return status >= 400
  if (which === 'writes') return !['GET', 'HEAD'].includes(method)
  const isOwn = path.startsWith('/console/') || userAgent === 'binnacle-console' || userAgent.startsWith('Mozilla/')
  return !isOwn || (status >= 400 && !query.includes('watch'))
}

const textOf = ({ user = '', method, path, reason = '', status }: RecentRequest): string =>
  `${user} ${method} ${path} ${reason} ${status}`.toLowerCase()

function reasonOf({ decision, reason, status }: RecentRequest): string {
  if (decision === 'none') return status === 401 ? 'not authenticated' : ''
  if (decision === 'forbid') return `refused${reason === undefined ? ': no role allows it' : `: ${reason}`}`
  return reason ?? 'allowed'
}
