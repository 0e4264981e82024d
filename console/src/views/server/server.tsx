// The state of the server, live: health, load, storage, requests with their latency, webhooks, and the last requests with
// who sent them and why they were refused.
import { useEffect, useRef, useState } from 'preact/hooks'
import { type RecentRequest, readRequests, readServer, type ServerInfo } from '../../api/console-api.js'
import { useCommands } from '../../state/use-commands.js'
import { Button } from '../../ui/button.js'
import { Badge, ErrorNotice, Loading } from '../../ui/notice.js'
import { type PlainColumn, PlainTable } from '../../ui/plain-table.js'
import '../tools.css'
import './server.css'
import { RecentRequests } from './recent-requests.js'
import { RequestTable, WebhookTable } from './request-table.js'
import { TestingPanel } from './testing-panel.js'

const POLL_MS = 2000
const MAX_KEPT = 1000

export function Server() {
  const [isPaused, setPaused] = useState(false)
  const { info, before, recent, error } = useServer(isPaused)
  useEffect(() => {
    document.title = 'Server · Binnacle'
  }, [])
  const toggle = (): void => setPaused(!isPaused)
  useCommands(
    [{ id: 'pause', title: isPaused ? 'Resume' : 'Pause', group: 'Server', keys: ['p'], run: toggle }],
    [isPaused],
  )
  if (info === undefined) {
    return <div class="page">{error === undefined ? <Loading /> : <ErrorNotice error={error} />}</div>
  }
  return (
    <div class="tool">
      <header class="tool-head">
        <h1>Server</h1>
        <Badge tone={info.health.ok ? 'good' : 'bad'}>{info.health.ok ? 'healthy' : 'not healthy'}</Badge>
        {info.testing && <Badge tone="accent">test server</Badge>}
        <div class="tool-actions">
          <Button icon={isPaused ? 'play' : 'pause'} keys="p" label={isPaused ? 'Resume' : 'Pause'} onClick={toggle}>
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </div>
      </header>
      <div class="tool-body">
        {error !== undefined && <ErrorNotice error={error} />}
        <Facts info={info} before={before} />
        {info.testing && <TestingPanel />}
        <RequestTable rows={info.requests} />
        <WebhookTable rows={info.webhooks} />
        <Objects info={info} />
        <RecentRequests requests={recent} />
      </div>
    </div>
  )
}

interface Sample {
  readonly info: ServerInfo
  readonly at: number
}

function useServer(isPaused: boolean) {
  const [samples, setSamples] = useState<readonly [latest: Sample, before: Sample | undefined] | undefined>(undefined)
  const [recent, setRecent] = useState<readonly RecentRequest[]>([])
  const [error, setError] = useState<unknown>(undefined)
  const next = useRef(0)
  useEffect(() => {
    if (isPaused) return
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async (): Promise<void> => {
      try {
        const [info, more] = await Promise.all([readServer(signal), readRequests(next.current, signal)])
        next.current = more.next
        setSamples(known => [{ info, at: performance.now() }, known?.[0]])
        if (more.requests.length > 0) setRecent(known => [...known, ...more.requests].slice(-MAX_KEPT))
        setError(undefined)
      } catch (reason) {
        if (signal.aborted) return
        setError(reason)
      }
      if (!signal.aborted) timer = setTimeout(() => void poll(), POLL_MS)
    }
    void poll()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [isPaused])
  return { info: samples?.[0].info, before: samples, recent, error }
}

type Samples = ReturnType<typeof useServer>['before']

function Facts({ info, before }: { readonly info: ServerInfo; readonly before: Samples }) {
  const { storage, load, process } = info
  return (
    <dl class="fact-cards">
      <Fact name="Health">
        <span class="health">
          {info.health.checks.map(({ name, ok, reason }) => (
            <span key={name}>
              <Badge tone={ok ? 'good' : 'bad'}>{name}</Badge> {reason}
            </span>
          ))}
        </span>
      </Fact>
      <Fact name="Requests">
        <strong>{rateOf(before, totalRequests)}</strong>
        <small>per second; {load.reading + load.mutating} now</small>
      </Fact>
      <Fact name="Watches">
        <strong>{load.watches}</strong>
        <small>on {load.byResource.length} collections</small>
      </Fact>
      <Fact name="Objects">
        <strong>{storage.objects.reduce((sum, { count }) => sum + count, 0).toLocaleString('en-US')}</strong>
        <small>revision {storage.revision.toLocaleString('en-US')}</small>
      </Fact>
      <Fact name="Storage">
        <strong>{storage.bytes === undefined ? storage.kind : printBytes(storage.bytes)}</strong>
        <small>
          {storage.bytes === undefined ? '' : `${storage.kind}; `}history of {Math.round(storage.historySeconds / 60)}{' '}
          min
        </small>
      </Fact>
      <Fact name="Memory">
        <strong>{printBytes(process.rss)}</strong>
        <small>{printBytes(process.heapUsed)} heap</small>
      </Fact>
      <Fact name="CPU">
        <strong>{rateOf(before, ({ process: { cpuSeconds } }) => cpuSeconds * 100, ' %')}</strong>
        <small>{process.cpuSeconds.toFixed(1)} s in all</small>
      </Fact>
      <Fact name="Version">
        <strong>{info.version}</strong>
        <small>
          Binnacle {info.binnacle}, Node {info.node}, up {printDuration(info.uptimeSeconds)}
        </small>
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

const totalRequests = ({ requests }: ServerInfo): number => requests.reduce((sum, { count }) => sum + count, 0)

/** What a figure has grown by in a second, between the last two samples. */
function rateOf(samples: Samples, figure: (info: ServerInfo) => number, unit = ''): string {
  const [latest, earlier] = samples ?? []
  if (latest === undefined || earlier === undefined) return '…'
  const seconds = (latest.at - earlier.at) / 1000
  const rate = Math.max(0, figure(latest.info) - figure(earlier.info)) / Math.max(seconds, 0.001)
  return `${rate >= 100 ? Math.round(rate).toLocaleString('en-US') : rate.toFixed(1)}${unit}`
}

function printBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  return `${(bytes / 1024 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`
}

function printDuration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return `${days}d ${hours}h`
  return hours > 0 ? `${hours}h ${minutes}m` : `${minutes}m ${seconds % 60}s`
}

interface StoredResource {
  readonly group: string
  readonly resource: string
  readonly count: number
  readonly watches: number
}

const OBJECT_COLUMNS: readonly PlainColumn<StoredResource>[] = [
  { title: 'Resource', cell: ({ resource }) => resource },
  { title: 'Group', cell: ({ group }) => group || 'core' },
  { title: 'Objects', end: true, cell: ({ count }) => count.toLocaleString('en-US') },
  { title: 'Watches', end: true, cell: ({ watches }) => watches || '' },
]

function Objects({ info }: { readonly info: ServerInfo }) {
  const watchesOf = (group: string, resource: string): number =>
    info.load.byResource
      .filter(each => each.group === group && each.resource === resource)
      .reduce((sum, { count }) => sum + count, 0)
  const stored = info.storage.objects.map(each => ({ ...each, watches: watchesOf(each.group, each.resource) }))
  return (
    <section class="panel">
      <h2>Stored objects and watches</h2>
      <PlainTable
        label="Stored objects"
        columns={OBJECT_COLUMNS}
        rows={stored.toSorted((a, b) => b.count - a.count)}
        keyOf={({ group, resource }) => `${resource}.${group}`}
        limited
      />
    </section>
  )
}
