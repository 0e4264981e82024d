// The page /metrics/slis: what the checks of /healthz, /livez and /readyz have given. It has a registry of its own, as in
// kube-apiserver, because it is read much more often than /metrics.
import { createMetrics, METRICS_MEDIA_TYPE, type MetricsOptions } from '../../base/metrics.js'
import type { ObserveCheck, PathHandler } from '../../http/pages.js'

export interface HealthMetrics {
  /** `type` is the page: `readyz`. */
  observer(type: string): ObserveCheck
  readonly page: PathHandler
}

export function createHealthMetrics(options: MetricsOptions | undefined): HealthMetrics {
  const metrics = createMetrics(options)
  const latest = metrics.gauge('kubernetes_healthcheck', 'This metric records the result of a single healthcheck.', [
    'name',
    'type',
  ])
  const total = metrics.counter(
    'kubernetes_healthchecks_total',
    'This metric records the results of all healthcheck.',
    ['name', 'status', 'type'],
  )
  const started = metrics.gauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    [],
  )
  started.with().set(Date.now() / 1000 - process.uptime())
  return {
    observer: type => (name, isWell) => {
      latest.with(name, type).set(isWell ? 1 : 0)
      total.with(name, isWell ? 'success' : 'error', type).inc()
    },
    async page({ reply }) {
      if (reply.exchange.method === 'DELETE') {
        for (const family of [latest, total, started]) family.reset()
        reply.send(200, { 'content-type': 'text/plain; charset=utf-8' }, 'metrics reset\n')
      } else reply.send(200, { 'content-type': METRICS_MEDIA_TYPE }, await metrics.print())
    },
  }
}
