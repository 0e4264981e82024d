// Metrics of policies, by kube-apiserver's names and labels.

import type { Counter, Histogram, MetricsRegistry } from '../../base/metrics.js'

export type PolicyType = 'validating' | 'mutating'

/** What followed from an expression. */
export type Enforcement = 'allow' | 'deny' | 'audit' | 'warn'

export interface PolicyMetrics {
  /** The counters of a policy for one binding: the same as long as the binding does not change. */
  of(policy: string, binding: { readonly name: string }): PolicyChecks
}

export interface PolicyChecks {
  /** `error`: why an expression is not met or cannot be evaluated; undefined if it is met. */
  checked(error: string | undefined, enforcement: Enforcement, seconds: number): void
  /** So many expressions are met, and each has taken so long. */
  met(count: number, seconds: number): void
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
  const create = (policy: string, binding: string): PolicyChecks => {
    // Almost all expressions are met.
    let ofMet: { readonly check: Counter; readonly duration: Histogram } | undefined
    const cellsOf = (kind: string, enforcement: Enforcement) => ({
      check: checks.with(policy, binding, kind, enforcement),
      duration: durations.with(policy, binding, kind, enforcement),
    })
    const met = (count: number, seconds: number): void => {
      const { check, duration } = (ofMet ??= cellsOf('no_error', 'allow'))
      check.inc(count)
      duration.observe(seconds, count)
    }
    return {
      met,
      checked(error, enforcement, seconds) {
        if (error === undefined && enforcement === 'allow') return met(1, seconds)
        const { check, duration } = cellsOf(errorType(error), enforcement)
        check.inc()
        duration.observe(seconds)
      },
    }
  }
  const known = new WeakMap<object, PolicyChecks>()
  return {
    of(policy, binding) {
      let found = known.get(binding)
      if (!found) known.set(binding, (found = create(policy, binding.name)))
      return found
    },
  }
}

function errorType(error: string | undefined): string {
  if (error === undefined) return 'no_error'
  if (error.startsWith('compilation')) return 'compile_error'
  if (error.startsWith('validation failed due to running out of cost budget')) return 'out_of_budget'
  return 'invalid_error'
}
