// Metrics of the rules of custom resources, by kube-apiserver's names.
import type { MetricsRegistry } from '../../base/metrics.js'

export interface RuleMetrics {
  compiled(seconds: number): void
  /** All rules of one value. */
  evaluated(seconds: number): void
}

/** The buckets that Prometheus has by default. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createRuleMetrics(registry: MetricsRegistry): RuleMetrics {
  const prefix = 'apiserver_cel'
  const compilation = registry.histogram(
    `${prefix}_compilation_duration_seconds`,
    'Compilation of CEL in seconds.',
    [],
    BUCKETS,
  )
  const evaluation = registry.histogram(
    `${prefix}_evaluation_duration_seconds`,
    'Evaluation of CEL in seconds.',
    [],
    BUCKETS,
  )
  // Without labels there is one series each, which is there from the start.
  const [compiled, evaluated] = [compilation.with(), evaluation.with()]
  return {
    compiled: seconds => compiled.observe(seconds),
    evaluated: seconds => evaluated.observe(seconds),
  }
}
