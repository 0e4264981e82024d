// Scales what a HorizontalPodAutoscaler names, by the metrics that a test gives (given-metrics.ts). As in
// kube-controller-manager an autoscaler is looked at 15 seconds after it appears and every 15 seconds from then on.
import type { Controller } from '../../controllers/start-controllers.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../../meta/selectors/label-selectors.js'
import { numberAt, objectAt, stringAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Autoscaler, Condition, Pod } from '../api/objects.js'
import { conditionOf } from '../common/conditions.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { computeMetric, type MetricResult } from './metric-sources.js'
import { limitReplicas, noteScale, type ScaleHistory } from './scale-limits.js'

const ACCOUNT = 'horizontal-pod-autoscaler'
const PERIOD_MS = 15_000
type Status = NonNullable<Autoscaler['status']>

export function startAutoscalerController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(ACCOUNT)
  const objects = systemObjects(w.context, ACCOUNT)
  const recorder = w.recorder(ACCOUNT)
  const histories = new Map<string, ScaleHistory>()
  /** Which pods each autoscaler scales, as far as that is known. */
  const selectors = new Map<string, LabelSelector>()

  return startWorkloadController(w, {
    name: 'horizontalpodautoscaler',
    follow: queue => [
      follow(w.autoscalers, queue, (each, now) => {
        // Every 15 seconds is enough; what was deleted is forgotten at once.
        if (now) queue().addLater(keyOf(each), PERIOD_MS)
        else forget(keyOf(each))
        return []
      }),
    ],
    async reconcile(key, queue) {
      const autoscaler = w.autoscalers.get(...readKey(key))
      if (!autoscaler) return forget(key)
      // The next look does not depend on how this one ends.
      queue.addLater(key, PERIOD_MS)
      const status = await statusOf(autoscaler, key)
      await writes.setStatus(w.autoscalers, autoscaler, status)
    },
  })

  function forget(key: string): void {
    histories.delete(key)
    selectors.delete(key)
  }

  async function statusOf(autoscaler: Autoscaler, key: string): Promise<Status> {
    const { spec } = autoscaler
    const conditions = createConditions(autoscaler.status?.conditions ?? [], w.now())
    const before: Status = { ...autoscaler.status, desiredReplicas: autoscaler.status?.desiredReplicas ?? 0 }
    const record = (reason: string, message: string): void => recorder.record(autoscaler, 'Warning', reason, message)

    let target: Target
    try {
      target = await findTarget(autoscaler)
    } catch (error) {
      const message = messageOf(error)
      record('FailedGetScale', message)
      conditions.set(
        'AbleToScale',
        'False',
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${message}`,
      )
      return { ...before, currentMetrics: before.currentMetrics ?? null, conditions: conditions.all() }
    }
    conditions.set(
      'AbleToScale',
      'True',
      'SucceededGetScale',
      `the HPA controller was able to get the target's current scale`,
    )
    const { current } = target
    const history = historyOf(key, current)
    const min = spec.minReplicas ?? 1
    let desired = current
    let why = ''
    let metrics: readonly unknown[] | null = null
    if (current === 0) {
      conditions.set(
        'ScalingActive',
        'False',
        'ScalingDisabled',
        'scaling is disabled since the replica count of the target is zero',
      )
    } else if (current > spec.maxReplicas) {
      desired = spec.maxReplicas
      why = 'Current number of replicas above Spec.MaxReplicas'
    } else if (current < min) {
      desired = min
      why = 'Current number of replicas below Spec.MinReplicas'
    } else {
      const computed = computeAll(autoscaler, target, conditions, record)
      metrics = computed.statuses
      if (computed.replicas === undefined) {
        return statusWith(autoscaler, { current, desired: before.desiredReplicas, metrics, conditions })
      }
      if (computed.replicas > current) why = `${computed.metric} above target`
      if (computed.replicas < current) why = 'All metrics below target'
      const limits = { current, desired: computed.replicas, min, max: spec.maxReplicas, now: w.now() }
      const { replicas, able, limited } = limitReplicas(autoscaler, history, limits)
      conditions.set('AbleToScale', 'True', able.reason, able.message)
      conditions.set('ScalingLimited', limited.status, limited.reason, limited.message)
      desired = replicas
    }
    if (desired === current) return statusWith(autoscaler, { current, desired, metrics, conditions })
    try {
      await objects.scale(target.kind, autoscaler.metadata.namespace ?? '', spec.scaleTargetRef.name, desired)
    } catch (error) {
      const message = messageOf(error)
      record('FailedRescale', `New size: ${desired}; reason: ${why}; error: ${message}`)
      conditions.set(
        'AbleToScale',
        'False',
        'FailedUpdateScale',
        `the HPA controller was unable to update the target scale: ${message}`,
      )
      return statusWith(autoscaler, { current, desired: before.desiredReplicas, metrics, conditions })
    }
    conditions.set(
      'AbleToScale',
      'True',
      'SucceededRescale',
      `the HPA controller was able to update the target scale to ${desired}`,
    )
    recorder.record(autoscaler, 'Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${why}`)
    noteScale(autoscaler, history, desired - current, w.now())
    return {
      ...statusWith(autoscaler, { current, desired, metrics, conditions }),
      lastScaleTime: printTime(w.now()),
    }
  }

  function historyOf(key: string, current: number): ScaleHistory {
    let history = histories.get(key)
    if (!history) {
      history = { recommendations: [{ replicas: current, at: w.now() }], ups: [], downs: [] }
      histories.set(key, history)
    }
    return history
  }

  /** Rejects with the reason for which the target cannot be scaled. */
  async function findTarget({ spec: { scaleTargetRef }, metadata }: Autoscaler): Promise<Target> {
    const { apiVersion = '', kind: name } = scaleTargetRef
    const parsed = parseGroupVersion(apiVersion)
    if (!parsed.ok) throw new Error(parsed.error)
    const kind = w.registry.findKind(parsed.value.group, name)
    if (!kind) {
      throw new Error(`no matches for kind "${name}" in group "${parsed.value.group}"`)
    }
    const { namespace = '' } = metadata
    const strategy = kind.versions.find(each => each.name === kind.storageVersion)?.subresources.scale
    if (!strategy) throw new Error('the server could not find the requested resource')
    const object = await objects.get(kind, namespace, scaleTargetRef.name)
    if (!object) {
      const resource = kind.group === '' ? kind.names.plural : `${kind.names.plural}.${kind.group}`
      throw new Error(`${resource} "${scaleTargetRef.name}" not found`)
    }
    const scale = strategy.read(object)
    return {
      kind,
      current: numberAt(objectAt(scale, 'spec'), 'replicas'),
      existing: numberAt(objectAt(scale, 'status'), 'replicas'),
      selector: stringAt(objectAt(scale, 'status'), 'selector'),
    }
  }

  interface Computed {
    /** Undefined if the metrics do not say it. */
    readonly replicas: number | undefined
    readonly metric: string
    readonly statuses: readonly unknown[] | null
  }

  function computeAll(
    autoscaler: Autoscaler,
    target: Target,
    conditions: Conditions,
    record: (reason: string, message: string) => void,
  ): Computed {
    const { metrics = [] } = autoscaler.spec
    const selected = podsOf(autoscaler, target.selector)
    if ('reason' in selected) {
      const { reason, event, message, shown } = selected
      record(event, message)
      conditions.set('ScalingActive', 'False', reason, shown)
      record('FailedComputeMetricsReplicas', message)
      return { replicas: undefined, metric: '', statuses: null }
    }
    const results = metrics.map(spec =>
      computeMetric(spec, {
        autoscaler,
        pods: selected,
        current: target.current,
        existing: target.existing,
        now: w.now(),
      }),
    )
    const failures = results.filter(result => 'error' in result)
    for (const { reason, cause } of failures) record(reason, cause)
    const found = results.filter(result => !('error' in result)) as MetricResult[]
    const best = found.reduce<MetricResult | undefined>(
      (most, each) => (most && most.replicas >= each.replicas ? most : each),
      undefined,
    )
    const statuses = results.map(result => ('error' in result ? { type: '' } : result.status))
    const [first] = failures
    if (!best || (first && best.replicas < target.current)) {
      if (first) {
        conditions.set(
          'ScalingActive',
          'False',
          first.reason,
          `the HPA was unable to compute the replica count: ${first.cause}`,
        )
        record(
          'FailedComputeMetricsReplicas',
          `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${first.error}`,
        )
      }
      return { replicas: undefined, metric: '', statuses }
    }
    conditions.set(
      'ScalingActive',
      'True',
      'ValidMetricFound',
      `the HPA was able to successfully calculate a replica count from ${best.name}`,
    )
    return { replicas: best.replicas, metric: best.name, statuses }
  }

  /** The pods of the target, or why they are not known. */
  function podsOf(autoscaler: Autoscaler, text: string): Pod[] | WrongSelector {
    const { namespace = '' } = autoscaler.metadata
    if (text === '') {
      const shown = `the HPA target's scale is missing a selector`
      return { reason: 'InvalidSelector', event: 'SelectorRequired', message: 'selector is required', shown }
    }
    const selector = parseLabelSelector(text)
    if (!selector.ok) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${selector.error}`
      return { reason: 'InvalidSelector', event: 'InvalidSelector', message, shown: message }
    }
    const pods = [...w.pods.all(namespace)].filter(pod => matchesLabels(selector.value, pod.metadata.labels ?? {}))
    selectors.set(keyOf(autoscaler), selector.value)
    const scaling = [...selectors].filter(
      ([key, other]) =>
        readKey(key)[0] === namespace && pods.some(pod => matchesLabels(other, pod.metadata.labels ?? {})),
    )
    if (scaling.length > 1) {
      const names = scaling.map(([key]) => `{${readKey(key)[1]} ${namespace}}`).join(' ')
      const message = `pods by selector ${text} are controlled by multiple HPAs: [${names}]`
      return { reason: 'AmbiguousSelector', event: 'AmbiguousSelector', message, shown: message }
    }
    return pods
  }
}

interface Target {
  readonly kind: Parameters<ReturnType<typeof systemObjects>['scale']>[0]
  readonly current: number
  /** How many pods there are. */
  readonly existing: number
  readonly selector: string
}

interface WrongSelector {
  readonly reason: string
  readonly event: string
  readonly message: string
  readonly shown: string
}

interface Parts {
  readonly current: number
  readonly desired: number
  readonly metrics: readonly unknown[] | null
  readonly conditions: Conditions
}

const statusWith = ({ status }: Autoscaler, { current, desired, metrics, conditions }: Parts): Status => ({
  ...(status?.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
  ...(status?.lastScaleTime !== undefined && { lastScaleTime: status.lastScaleTime }),
  ...(current !== 0 && { currentReplicas: current }),
  desiredReplicas: desired,
  currentMetrics: metrics,
  conditions: conditions.all(),
})

interface Conditions {
  set(type: string, status: 'True' | 'False', reason: string, message: string): void
  all(): readonly Condition[]
}

/** Conditions keep their places; the time of one changes with its status. */
function createConditions(before: readonly Condition[], now: number): Conditions {
  const conditions = [...before]
  return {
    set(type, status, reason, message) {
      const place = conditions.findIndex(each => each.type === type)
      const old = conditionOf(conditions, type)
      const lastTransitionTime = old?.status === status ? old.lastTransitionTime : printTime(now)
      conditions.splice(place === -1 ? conditions.length : place, 1, {
        type,
        status,
        ...(lastTransitionTime !== undefined && { lastTransitionTime }),
        reason,
        message,
      })
    },
    all: () => conditions,
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
