// Metrics of policies, by kube-apiserver's names and labels.

import type { Counter, Histogram, MetricsRegistry } from '../../base/metrics.js'

export type PolicyType = 'validating' | 'mutating'

/** What followed from an expression. */
export type Enforcement = 'allow' | 'deny' | 'audit' | 'warn'

export interface PolicyMetrics {
  /** `error`: why an expression is not met or cannot be evaluated; undefined if it is met. */
  checked(policy: string, binding: string, error: string | undefined, enforcement: Enforcement, seconds: number): void
}

const LABELS = ['policy', 'policy_binding', 'error_type', 'enforcement_action'] as const
const BUCKETS = [0.0000005, 0.001, 0.01, 0.1, 1]

export function createPolicyMetrics(registry: MetricsRegistry, type: PolicyType): PolicyMetrics {
  const prefix = `apiserver_${type}_admission_policy_check`
  const about = `by policy, binding, type of the error and what followed`
  const checks = registry.counter(`${prefix}_total`, `Expressions of ${type} admission policies, ${about}.`, LABELS)
  const durations = registry.histogram(
    `${prefix}_duration_seconds`,
    `Evaluation of expressions of ${type} admission policies in seconds, ${about}.`,
    LABELS,
    BUCKETS,
  )
  /** Almost all expressions are met. */
  const met = new Map<string, { readonly check: Counter; readonly duration: Histogram }>()
  return {
    checked(policy, binding, error, enforcement, seconds) {
      if (error !== undefined || enforcement !== 'allow') {
        const kind = errorType(error)
        checks.with(policy, binding, kind, enforcement).inc()
        durations.with(policy, binding, kind, enforcement).observe(seconds)
        return
      }
      const key = `${policy}\0${binding}`
      let cells = met.get(key)
      if (!cells) {
        const labels = [policy, binding, 'no_error', 'allow'] as const
        met.set(key, (cells = { check: checks.with(...labels), duration: durations.with(...labels) }))
      }
      cells.check.inc()
      cells.duration.observe(seconds)
    },
  }
}

function errorType(error: string | undefined): string {
  if (error === undefined) return 'no_error'
  if (error.startsWith('compilation')) return 'compile_error'
  if (error.startsWith('validation failed due to running out of cost budget')) return 'out_of_budget'
  return 'invalid_error'
}
