// The metrics that a test gives, in place of metrics servers: the annotation `binnacle.dev/metrics` of an autoscaler, of its
// pods or of their template has them by name, as JSON:
//
//   {"cpu": "900m", "app/memory": "1Gi", "requests": {"total": "300"}}
//
// A quantity is what each pod shows, or the value of an Object or External metric; a total is shared among the pods that are
// ready. `app/memory` is the memory of the container `app`. What a pod says of itself goes first.
import { parseQuantity, scaledQuantity } from '../../meta/values/quantity.js'
import type { Autoscaler, Pod, WorkloadObject } from '../api/objects.js'
import { isReady, isTerminating, phaseOf } from '../common/conditions.js'

export const METRICS_ANNOTATION = 'binnacle.dev/metrics'

/** In thousandths, as the controller computes. */
type Given = { readonly each: number } | { readonly total: number }

export interface GivenMetrics {
  /** Whether any metrics are given at all. */
  readonly isGiven: boolean
  /** Whether any pod shows anything. */
  readonly hasPods: boolean
  /** What each pod shows, by its name. Pods without a value are left out. */
  ofPods(metric: string): Map<string, number>
  /** The value of a metric that is not about pods. */
  value(metric: string): number | undefined
}

/** Throws if an annotation cannot be read. */
export function readGivenMetrics(autoscaler: Autoscaler, pods: readonly Pod[]): GivenMetrics {
  const common = givenIn(autoscaler)
  const own = new Map(pods.map(pod => [pod.metadata.name, givenIn(pod)]))
  const sharing = pods.filter(pod => phaseOf(pod) === 'Running' && isReady(pod) && !isTerminating(pod)).length
  return {
    isGiven: common.size > 0 || [...own.values()].some(({ size }) => size > 0),
    hasPods: pods.some(pod => phaseOf(pod) === 'Running' && common.size + own.get(pod.metadata.name)!.size > 0),
    ofPods(metric) {
      const values = new Map<string, number>()
      for (const pod of pods) {
        if (phaseOf(pod) !== 'Running') continue
        const given = own.get(pod.metadata.name)?.get(metric) ?? common.get(metric)
        if (given) values.set(pod.metadata.name, 'each' in given ? given.each : Math.ceil(given.total / (sharing || 1)))
      }
      return values
    },
    value(metric) {
      const given = common.get(metric)
      return given && ('each' in given ? given.each : given.total)
    },
  }
}

function givenIn({ metadata: { annotations } }: WorkloadObject): ReadonlyMap<string, Given> {
  const text = annotations?.[METRICS_ANNOTATION]
  if (text === undefined) return NONE
  const wrong = (why: string): Error => new Error(`annotation ${METRICS_ANNOTATION}: ${why}`)
  const parsed = parseJson(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw wrong(`it must be a JSON object, such as {"cpu": "900m"}`)
  }
  return new Map(
    Object.entries(parsed).map(([metric, given]) => {
      const total: unknown = (given as { readonly total?: unknown } | null)?.total
      const quantity = parseQuantity(typeof total === 'string' ? total : typeof given === 'string' ? given : '')
      if (!quantity.ok) throw wrong(`${metric} must be a quantity, such as "900m", or {"total": "3"}`)
      const amount = Number(scaledQuantity(quantity.value, -3))
      return [metric, typeof total === 'string' ? { total: amount } : { each: amount }]
    }),
  )
}

const NONE: ReadonlyMap<string, Given> = new Map()

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
