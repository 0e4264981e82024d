// Metrics of webhooks, by kube-apiserver's names and labels.

import type { MetricsRegistry } from '../../base/metrics.js'

export interface WebhookMetrics {
  called(name: string, type: string, operation: string, seconds: number, code: number, isRejected: boolean): void
  rejected(name: string, type: string, operation: string, errorType: string, code: number): void
  failedOpen(name: string, type: string): void
}

const PREFIX = 'apiserver_admission_webhook_'
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
/** Higher codes are counted as this one, so that a broken webhook cannot create any number of series. */
const MAX_CODE = 600

export function createWebhookMetrics(registry: MetricsRegistry): WebhookMetrics {
  const durations = registry.histogram(
    `${PREFIX}admission_duration_seconds`,
    'Duration of calls of admission webhooks in seconds, by name, type and operation.',
    ['name', 'type', 'operation', 'rejected'],
    BUCKETS,
  )
  const requests = registry.counter(
    `${PREFIX}request_total`,
    'Calls of admission webhooks, by name, type, operation and code of the response.',
    ['name', 'type', 'operation', 'code', 'rejected'],
  )
  const rejections = registry.counter(
    `${PREFIX}rejection_count`,
    'Requests that were refused because of an admission webhook, by the type of the error and the code.',
    ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  )
  const open = registry.counter(
    `${PREFIX}fail_open_count`,
    'Failed calls of admission webhooks whose failure policy is Ignore.',
    ['name', 'type'],
  )
  const codeOf = (code: number): string => String(Math.min(code, MAX_CODE))
  return {
    called(name, type, operation, seconds, code, isRejected) {
      durations.with(name, type, operation, String(isRejected)).observe(seconds)
      requests.with(name, type, operation, codeOf(code), String(isRejected)).inc()
    },
    rejected: (name, type, operation, errorType, code) =>
      rejections.with(name, type, operation, errorType, codeOf(code)).inc(),
    failedOpen: (name, type) => open.with(name, type).inc(),
  }
}
