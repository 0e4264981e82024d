// Metrics of impersonation, by kube-apiserver's names and labels.
import type { ImpersonationObserver } from '../../auth/impersonation.js'
import type { MetricsRegistry } from '../../base/metrics.js'

const PREFIX = 'apiserver_impersonation_'
const LABELS = ['decision', 'mode'] as const
const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i)

export function impersonationMetrics(metrics: MetricsRegistry): ImpersonationObserver {
  const measure = (name: string, what: string) => {
    const total = metrics.counter(
      `${PREFIX}${name}_total`,
      `Total number of ${what} split by mode and decision.`,
      LABELS,
    )
    const durations = metrics.histogram(
      `${PREFIX}${name}_duration_seconds`,
      `Latency of ${what} in seconds split by mode and decision.`,
      LABELS,
      BUCKETS,
    )
    return (mode: string, isAllowed: boolean, seconds: number): void => {
      const decision = isAllowed ? 'allowed' : 'denied'
      total.with(decision, mode).inc()
      durations.with(decision, mode).observe(seconds)
    }
  }
  return {
    attempted: measure('attempts', 'impersonation attempts'),
    asked: measure('authorization_attempts', 'authorization checks made by the impersonation handler'),
  }
}
