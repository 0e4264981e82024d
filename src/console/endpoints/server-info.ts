// `GET /console/api/server`: the state of the server, from its metrics.

import { cpuUsage, memoryUsage, platform, uptime, version, versions } from 'node:process'
import type { MetricsRegistry, Sample } from '../../base/metrics.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { Endpoint } from './endpoint.js'

export interface ServerInfoParts {
  /** Versions, and whether it is a test server. */
  readonly about: ValueObject
  readonly metrics: MetricsRegistry
  /** Where objects are stored, and for how long changes are kept: `{ kind, historySeconds }`. */
  readonly storage: ValueObject
  /** By kube-apiserver's names; each rejects with the reason if it fails. */
  readonly checks: () => Readonly<Record<string, () => Promise<void>>>
  readonly load: () => { readonly reading: number; readonly mutating: number; readonly watches: number }
  readonly openWatches: () => Iterable<RequestInfo>
}

const REQUESTS = 'apiserver_request_total'
const LATENCIES = 'apiserver_request_duration_seconds'
const OBJECTS = 'apiserver_resource_objects'
const SIZE = 'apiserver_storage_size_bytes'
const REVISION = 'binnacle_storage_revision'
const WEBHOOK = 'apiserver_admission_webhook_'
const WEBHOOKS = {
  calls: `${WEBHOOK}request_total`,
  durations: `${WEBHOOK}admission_duration_seconds`,
  rejections: `${WEBHOOK}rejection_count`,
  failedOpen: `${WEBHOOK}fail_open_count`,
}

export const createServerInfo =
  (parts: ServerInfoParts): Endpoint =>
  async () => {
    const names = [REQUESTS, LATENCIES, OBJECTS, SIZE, REVISION, ...Object.values(WEBHOOKS)]
    const read = await parts.metrics.read(...names)
    const of = (name: string): readonly Sample[] => read.get(name) ?? []
    return {
      ...parts.about,
      node: version,
      platform: `${platform} ${process.arch}`,
      uptimeSeconds: Math.round(uptime()),
      process: processState(),
      health: await checkHealth(parts.checks()),
      storage: {
        ...parts.storage,
        revision: of(REVISION)[0]?.value ?? 0,
        ...(of(SIZE)[0] && { bytes: of(SIZE)[0]!.value }),
        objects: objectCounts(of(OBJECTS)),
      },
      load: { ...parts.load(), byResource: watchesByResource(parts.openWatches()) },
      requests: requestRows(of(REQUESTS), of(LATENCIES)),
      webhooks: webhookRows(of),
    }
  }

function processState(): ValueObject {
  const { rss, heapUsed, external } = memoryUsage()
  const { user, system } = cpuUsage()
  return { pid: process.pid, rss, heapUsed, external, cpuSeconds: (user + system) / 1e6, v8: versions.v8 }
}

async function checkHealth(checks: Readonly<Record<string, () => Promise<void>>>): Promise<ValueObject> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<ValueObject> => {
      try {
        await check()
        return { name, ok: true }
      } catch (error) {
        return { name, ok: false, reason: error instanceof Error ? error.message : String(error) }
      }
    }),
  )
  return { ok: results.every(({ ok }) => ok === true), checks: results }
}

const objectCounts = (samples: readonly Sample[]): Value[] =>
  samples
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ group: labels['group']!, resource: labels['resource']!, count: value }))

function watchesByResource(watches: Iterable<RequestInfo>): Value[] {
  const counts = new Map<
    string,
    { group: string; version: string; resource: string; namespace: string; count: number }
  >()
  for (const { group, version: of, resource, namespace } of watches) {
    const key = [group, of, resource, namespace].join('/')
    const known = counts.get(key)
    if (known) known.count++
    else counts.set(key, { group, version: of, resource, namespace, count: 1 })
  }
  return [...counts.values()]
}

/** Labels that make a row of the table of requests. */
const ROW = ['verb', 'group', 'version', 'resource', 'subresource']

function requestRows(totals: readonly Sample[], latencies: readonly Sample[]): Value[] {
  const rows = new Map<string, { labels: ValueObject; codes: Record<string, number>; latency: Sample[] }>()
  const rowOf = ({ labels }: Sample) => {
    const key = ROW.map(name => labels[name]).join('\0')
    let row = rows.get(key)
    if (!row) {
      const shown = Object.fromEntries(ROW.map(name => [name, labels[name]!]))
      rows.set(key, (row = { labels: shown, codes: {}, latency: [] }))
    }
    return row
  }
  for (const sample of totals) {
    const { codes } = rowOf(sample)
    const code = sample.labels['code']!
    codes[code] = (codes[code] ?? 0) + sample.value
  }
  for (const sample of latencies) rowOf(sample).latency.push(sample)
  return Array.from(rows.values(), ({ labels, codes, latency }) => {
    const count = Object.values(codes).reduce((sum, each) => sum + each, 0)
    const isError = ([code]: readonly [string, number]): boolean => Number(code) >= 400
    const errors = Object.entries(codes)
      .filter(isError)
      .reduce((sum, [, each]) => sum + each, 0)
    return { ...labels, count, errors, codes, ...latencyOf(latency) }
  })
}

function webhookRows(of: (name: string) => readonly Sample[]): Value[] {
  const rows = new Map<
    string,
    { name: string; type: string; calls: number; failures: number; durations: Sample[] } & Record<
      'rejections' | 'failedOpen',
      number
    >
  >()
  const rowOf = ({ labels }: Sample) => {
    const [name, type] = [labels['name']!, labels['type']!]
    const key = `${type} ${name}`
    let row = rows.get(key)
    if (!row) {
      row = { name, type, calls: 0, failures: 0, rejections: 0, failedOpen: 0, durations: [] }
      rows.set(key, row)
    }
    return row
  }
  for (const sample of of(WEBHOOKS.calls)) {
    const row = rowOf(sample)
    row.calls += sample.value
    if (Number(sample.labels['code']) >= 400) row.failures += sample.value
  }
  for (const sample of of(WEBHOOKS.durations)) rowOf(sample).durations.push(sample)
  for (const sample of of(WEBHOOKS.rejections)) rowOf(sample).rejections += sample.value
  for (const sample of of(WEBHOOKS.failedOpen)) rowOf(sample).failedOpen += sample.value
  return Array.from(rows.values(), ({ durations, ...row }) => ({ ...row, ...latencyOf(durations) }))
}

/** Milliseconds, estimated from the buckets of several histograms together. */
function latencyOf(samples: readonly Sample[]): ValueObject {
  const count = samples.reduce((sum, { value }) => sum + value, 0)
  if (count === 0) return {}
  const total = samples.reduce((sum, sample) => sum + (sample.sum ?? 0), 0)
  const at = (share: number): number => quantile(samples, count, share)
  return { meanMs: (total / count) * 1000, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99) }
}

/** Within a bucket values are taken to be spread evenly, as Prometheus does. */
function quantile(samples: readonly Sample[], count: number, share: number): number {
  const rank = count * share
  const bounds = samples[0]!.buckets ?? []
  let [below, lower] = [0, 0]
  for (const [i, { bound }] of bounds.entries()) {
    const upTo = samples.reduce((sum, { buckets = [] }) => sum + (buckets[i]?.count ?? 0), 0)
    if (upTo >= rank) {
      if (bound === Infinity) return lower * 1000
      return (lower + ((bound - lower) * (rank - below)) / Math.max(1, upTo - below)) * 1000
    }
    below = upTo
    lower = bound
  }
  return lower * 1000
}
