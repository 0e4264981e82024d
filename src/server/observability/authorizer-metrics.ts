// Metrics of the authorizers and of their webhooks, by kube-apiserver's names and labels.
import type { AuthorizerObserver } from '../../auth/authorizer.js'
import type { MetricsRegistry } from '../../base/metrics.js'

const PREFIX = 'apiserver_authorization_'
const WEBHOOK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const CONDITION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]

export function authorizerMetrics(metrics: MetricsRegistry): AuthorizerObserver {
  const decisions = metrics.counter(
    `${PREFIX}decisions_total`,
    'Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.',
    ['type', 'name', 'decision'],
  )
  const evaluations = metrics.counter(`${PREFIX}webhook_evaluations_total`, 'Round-trips to authorization webhooks.', [
    'name',
    'result',
  ])
  const durations = metrics.histogram(
    `${PREFIX}webhook_duration_seconds`,
    'Request latency in seconds.',
    ['name', 'result'],
    WEBHOOK_BUCKETS,
  )
  const failures = metrics.counter(
    `${PREFIX}webhook_evaluations_fail_open_total`,
    'NoOpinion results due to webhook timeout or error.',
    ['name', 'result'],
  )
  const conditionErrors = metrics.counter(
    `${PREFIX}match_condition_evaluation_errors_total`,
    'Total number of errors when an authorization webhook encounters a match condition error split by authorizer type and name.',
    ['type', 'name'],
  )
  const exclusions = metrics.counter(
    `${PREFIX}match_condition_exclusions_total`,
    'Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.',
    ['type', 'name'],
  )
  const conditionTimes = metrics.histogram(
    `${PREFIX}match_condition_evaluation_seconds`,
    'Authorization match condition evaluation time in seconds, split by authorizer type and name.',
    ['type', 'name'],
    CONDITION_BUCKETS,
  )
  return {
    decided: (type, name, allowed) => decisions.with(type, name, allowed ? 'allowed' : 'denied').inc(),
    asked(name, result, seconds) {
      evaluations.with(name, result).inc()
      durations.with(name, result).observe(seconds)
    },
    failedOpen: (name, result) => failures.with(name, result).inc(),
    matched(name, outcome, seconds) {
      conditionTimes.with('Webhook', name).observe(seconds)
      if (outcome === 'error') conditionErrors.with('Webhook', name).inc()
      if (outcome === 'exclusion') exclusions.with('Webhook', name).inc()
    },
  }
}
