// Keeps the status of PodDisruptionBudgets, by which evictions are allowed or refused.
import type { Controller } from '../../controllers/start-controllers.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { scaledValue } from '../../meta/values/int-or-string.js'
import { printTime } from '../../meta/values/time.js'
import type { DisruptionBudget, Pod, WorkloadObject } from '../api/objects.js'
import { conditionOf, isFinished, isReady, isTerminating } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'

const COMPONENT = 'disruption-controller'
/** An evicted pod counts as gone for so long, until its deletion is seen. */
const DISRUPTED_MS = 120_000

interface Expected {
  readonly expected: number
  readonly healthy: number
}

export function startDisruptionController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const recorder = w.recorder('controllermanager')

  function* keysOfPod({ metadata: { namespace = '', labels = {} } }: Pod): Iterable<string> {
    for (const budget of w.budgets.all(namespace)) {
      const selector = selectorOf(budget.spec.selector)
      if (selector.ok && matchesLabels(selector.value, labels)) yield keyOf(budget)
    }
  }

  return startWorkloadController(w, {
    name: 'disruption',
    follow: queue => [follow(w.budgets, queue, each => [keyOf(each)]), follow(w.pods, queue, keysOfPod)],
    async reconcile(key, queue) {
      const budget = w.budgets.get(...readKey(key))
      const selector = selectorOf(budget?.spec.selector)
      if (!budget || !selector.ok) return
      const pods = [...w.pods.all(budget.metadata.namespace ?? '')].filter(
        pod => !isFinished(pod) && matchesLabels(selector.value, pod.metadata.labels ?? {}),
      )
      if (pods.length === 0) recorder.record(budget, 'Normal', 'NoPods', 'No matching pods found')
      const counts = expectedPods(budget, pods)
      if (typeof counts === 'string') {
        recorder.record(
          budget,
          'Warning',
          'CalculateExpectedPodCountFailed',
          `Failed to calculate the number of expected pods: ${counts}`,
        )
        const status = budget.status ?? { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
        const conditions = [condition(budget, 'False', 'SyncFailed', counts)]
        await writes.setStatus(w.budgets, budget, {
          ...status,
          disruptionsAllowed: 0,
          observedGeneration: generationOf(budget),
          conditions,
        })
        return
      }
      const now = w.now()
      const disrupted = stillDisrupted(budget, pods, now)
      const healthy = pods.filter(
        pod => isReady(pod) && !isTerminating(pod) && !Object.hasOwn(disrupted, pod.metadata.name),
      ).length
      const allowed = Math.max(0, Math.min(healthy - counts.healthy, counts.expected))
      const isAllowed = allowed > 0
      const status = {
        observedGeneration: generationOf(budget),
        ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
        disruptionsAllowed: counts.expected === 0 ? 0 : allowed,
        currentHealthy: healthy,
        desiredHealthy: counts.healthy,
        expectedPods: counts.expected,
        conditions: [
          condition(budget, isAllowed ? 'True' : 'False', isAllowed ? 'SufficientPods' : 'InsufficientPods', ''),
        ],
      }
      await writes.setStatus(w.budgets, budget, status)
      const times = Object.values(disrupted).map(time => Date.parse(time) + DISRUPTED_MS - now)
      if (times.length > 0) queue.addLater(key, Math.max(0, Math.min(...times)))
    },
  })

  function condition(budget: DisruptionBudget, status: string, reason: string, message: string) {
    const before = conditionOf(budget.status?.conditions, 'DisruptionAllowed')
    return {
      type: 'DisruptionAllowed',
      status,
      observedGeneration: generationOf(budget),
      lastTransitionTime: before?.status === status ? before.lastTransitionTime! : printTime(w.now()),
      reason,
      message,
    }
  }

  /** How many pods there should be, and how many of them healthy; a text if that cannot be known. */
  function expectedPods(budget: DisruptionBudget, pods: readonly Pod[]): Expected | string {
    const { minAvailable, maxUnavailable } = budget.spec
    if (maxUnavailable !== undefined) {
      const expected = scaleOf(pods)
      if (typeof expected === 'string') return expected
      const scaled = scaledValue(maxUnavailable, expected, true)
      return { expected, healthy: Math.max(0, expected - (scaled.ok ? scaled.value : 0)) }
    }
    if (typeof minAvailable === 'string') {
      const expected = scaleOf(pods)
      if (typeof expected === 'string') return expected
      const scaled = scaledValue(minAvailable, expected, true)
      return { expected, healthy: scaled.ok ? scaled.value : 0 }
    }
    return { expected: pods.length, healthy: minAvailable ?? 1 }
  }

  /** The sum of the replicas of the controllers of the pods. */
  function scaleOf(pods: readonly Pod[]): number | string {
    const sizes = new Map<string, number>()
    for (const pod of pods) {
      const controller = topOwner(pod)
      if (!controller) return `found no controllers for pod "${pod.metadata.name}"`
      const { replicas } =
        (controller as WorkloadObject & { readonly spec?: { readonly replicas?: number } }).spec ?? {}
      if (replicas === undefined) return `${controller.kind} does not implement the scale subresource`
      sizes.set(controller.metadata.uid, replicas)
    }
    return [...sizes.values()].reduce((sum, size) => sum + size, 0)
  }

  function topOwner(pod: Pod): WorkloadObject | undefined {
    const { namespace = '' } = pod.metadata
    const owner = controllerOf(pod)
    if (!owner) return undefined
    switch (owner.kind) {
      case 'ReplicaSet': {
        const set = w.replicaSets.get(namespace, owner.name)
        const parent = set && controllerOf(set)
        return (parent?.kind === 'Deployment' ? w.deployments.get(namespace, parent.name) : undefined) ?? set
      }
      case 'StatefulSet':
        return w.statefulSets.get(namespace, owner.name)
      case 'ReplicationController':
        return w.replicationControllers.get(namespace, owner.name)
      case 'DaemonSet':
        return w.daemonSets.get(namespace, owner.name)
      case 'Job':
        return w.jobs.get(namespace, owner.name)
      default:
        return undefined
    }
  }
}

const generationOf = ({ metadata: { generation = 0 } }: DisruptionBudget): number => Number(generation)

function stillDisrupted(budget: DisruptionBudget, pods: readonly Pod[], now: number): Record<string, string> {
  const living = new Set(pods.filter(pod => !isTerminating(pod)).map(({ metadata }) => metadata.name))
  return Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, time]) => living.has(name) && Date.parse(time) + DISRUPTED_MS > now,
    ),
  )
}
