// Metrics of match conditions, by kube-apiserver's names and labels.
import type { MetricsRegistry } from '../../base/metrics.js'
import type { Variables } from '../../cel/index.js'
import type { Operation } from '../attributes.js'
import type { MatchConditions, MatchResult } from './match-conditions.js'

/** Evaluates the conditions of a webhook or policy of this name, and counts what excludes a request. */
export type EvaluateConditions = (
  conditions: MatchConditions,
  name: string,
  operation: Operation,
  variables: Variables,
) => MatchResult

const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]

export function countedConditions(
  registry: MetricsRegistry,
  kind: 'webhook' | 'policy',
  type: 'admit' | 'validate',
): EvaluateConditions {
  const prefix = 'apiserver_admission_match_condition'
  const labels = ['name', 'kind', 'type', 'operation'] as const
  const about = 'by the name of the webhook or policy, its kind, type and operation'
  const errors = registry.counter(
    `${prefix}_evaluation_errors_total`,
    `Match conditions that failed, ${about}.`,
    labels,
  )
  const exclusions = registry.counter(
    `${prefix}_exclusions_total`,
    `Requests that match conditions have excluded, ${about}.`,
    labels,
  )
  const durations = registry.histogram(
    `${prefix}_evaluation_seconds`,
    `Evaluation of match conditions in seconds, ${about}.`,
    labels,
    BUCKETS,
  )
  return (conditions, name, operation, variables) => {
    const begin = performance.now()
    const result = conditions.evaluate(variables)
    // As in kube-apiserver, requests that match are not counted.
    if (result.matches === true) return result
    const values = [name, kind, type, operation] as const
    if (result.errors > 0) errors.with(...values).inc(result.errors)
    if (result.matches === false && result.condition !== undefined) exclusions.with(...values).inc()
    durations.with(...values).observe((performance.now() - begin) / 1000)
    return result
  }
}
