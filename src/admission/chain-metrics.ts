// How long admission takes: each phase as a whole, and each plugin that a request calls. By kube-apiserver's names and
// labels.
import type { Histogram, MetricsRegistry } from '../base/metrics.js'
import type { Operation } from './attributes.js'

/** The two phases, as metrics name them. */
export type Phase = 'admit' | 'validate'

export interface ChainMetrics {
  /** Measures one phase of an operation. */
  step(phase: Phase, operation: Operation): Measure
  /** Measures the calls of one plugin; undefined if it is no plugin of kube-apiserver. */
  plugin(name: string, phase: Phase, operation: Operation): Measure | undefined
}

/** Runs the action and counts how long it took, also if it is a promise. */
export type Measure = <T, Input>(action: (input: Input) => T, input: Input) => T

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** `isPlugin`: whether kube-apiserver has a plugin of this name. */
export function createChainMetrics(registry: MetricsRegistry, isPlugin: (name: string) => boolean): ChainMetrics {
  const prefix = 'apiserver_admission'
  const labels = ['type', 'operation', 'rejected'] as const
  const about = 'by type (admit or validate), operation and whether it refused the request'
  const steps = registry.histogram(
    `${prefix}_step_admission_duration_seconds`,
    `Duration of a phase of admission in seconds, ${about}.`,
    labels,
    BUCKETS,
  )
  const summaries = registry.summary(
    `${prefix}_step_admission_duration_seconds_summary`,
    `Duration of the phases of admission in seconds in all, ${about}.`,
    labels,
  )
  const plugins = registry.histogram(
    `${prefix}_controller_admission_duration_seconds`,
    `Duration of calls of admission plugins in seconds, by name, ${about}.`,
    ['name', ...labels],
    BUCKETS,
  )
  return {
    step: (phase, operation) =>
      measureBy(rejected => {
        const cells = [steps, summaries].map(family => family.with(phase, operation, rejected))
        return { observe: seconds => cells.forEach(cell => cell.observe(seconds)) }
      }),
    plugin: (name, phase, operation) =>
      isPlugin(name) ? measureBy(rejected => plugins.with(name, phase, operation, rejected)) : undefined,
  }
}

/** Series are created when there is something to count. */
function measureBy(create: (rejected: string) => Histogram): Measure {
  let accepted: Histogram | undefined
  let refused: Histogram | undefined
  const accept = (begin: number): void => (accepted ??= create('false')).observe((performance.now() - begin) / 1000)
  const refuse = (begin: number): void => (refused ??= create('true')).observe((performance.now() - begin) / 1000)
  return (action, input) => {
    const begin = performance.now()
    let result
    try {
      result = action(input)
    } catch (error) {
      refuse(begin)
      throw error
    }
    if (result instanceof Promise) {
      result.then(
        () => accept(begin),
        () => refuse(begin),
      )
    } else accept(begin)
    return result
  }
}
