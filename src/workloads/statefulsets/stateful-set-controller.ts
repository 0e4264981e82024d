// Keeps the pods of a StatefulSet: each with its number, one after the other or all at once, and brings them to a new
// template from the last to the first.
import type { Controller } from '../../controllers/start-controllers.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { scaledValue } from '../../meta/values/int-or-string.js'
import type { ControllerRevision, Pod, StatefulSet } from '../api/objects.js'
import { isAvailable, isFinished, isReady, isTerminating, untilNextAvailable } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { claim } from '../common/controller-ref.js'
import { inSlowStartBatches } from '../common/pod-control.js'
import { withoutZeros } from '../common/status.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { cleanUpRevisions, REVISION_HASH, syncRevisions } from '../revisions/controller-revisions.js'
import { createStatefulPods, isInRange, ordinalOf, startOrdinal } from './stateful-pods.js'

const COMPONENT = 'statefulset-controller'
const HASH_LABEL = 'controller.kubernetes.io/hash'

const isRunning = (pod: Pod): boolean => pod.status?.phase === 'Running'
const revisionOf = (pod: Pod): string => pod.metadata.labels?.[REVISION_HASH] ?? ''

export function startStatefulSetController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const stateful = createStatefulPods(w, writes, w.recorder(COMPONENT))

  function* keysOfPod(pod: Pod): Iterable<string> {
    const owner = controllerOf(pod)
    const { namespace = '', labels = {} } = pod.metadata
    if (owner) {
      if (owner.kind === 'StatefulSet') yield `${namespace}/${owner.name}`
      return
    }
    for (const set of w.statefulSets.all(namespace)) {
      const selector = selectorOf(set.spec.selector)
      if (selector.ok && matchesLabels(selector.value, labels) && ordinalOf(set, pod) >= 0) yield keyOf(set)
    }
  }

  return startWorkloadController(w, {
    name: 'statefulset',
    follow: queue => [follow(w.statefulSets, queue, each => [keyOf(each)]), follow(w.pods, queue, keysOfPod)],
    async reconcile(key, queue) {
      const set = w.statefulSets.get(...readKey(key))
      const selector = selectorOf(set?.spec.selector)
      if (!set || !selector.ok) return
      const pods = await claim(set, selector.value, w.pods, writes, pod => ordinalOf(set, pod) >= 0)
      const revisions = await syncRevisions(w, writes, {
        owner: set,
        selector: selector.value,
        labels: set.spec.template.metadata?.labels ?? {},
        collisions: set.status.collisionCount ?? 0,
        hashLabel: HASH_LABEL,
      })
      const { update, all } = revisions
      const current = all.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? update
      let failure: { readonly error: unknown } | undefined
      try {
        if (set.metadata.deletionTimestamp === undefined) await sync(set, pods, current, update)
      } catch (error) {
        failure = { error }
      }
      const after = w.pods.ownedBy(set.metadata.uid).filter(pod => ordinalOf(set, pod) >= 0)
      const status = statusOf(set, after, current, update, revisions.collisions, w.now())
      await writes.setStatus(w.statefulSets, set, status)
      if (failure) throw failure.error
      const used = new Set([status.currentRevision, status.updateRevision, ...after.map(revisionOf)])
      const limit = set.spec.revisionHistoryLimit ?? 10
      await cleanUpRevisions(w, writes, revisions, ({ metadata }) => used.has(metadata.name), limit)
      const wait = untilNextAvailable(after, set.spec.minReadySeconds ?? 0, w.now())
      if (wait !== undefined) queue.addLater(key, wait)
    },
  })

  async function sync(
    set: StatefulSet,
    pods: readonly Pod[],
    current: ControllerRevision,
    update: ControllerRevision,
  ): Promise<void> {
    const { replicas = 1, minReadySeconds = 0, podManagementPolicy } = set.spec
    const inOrder = podManagementPolicy !== 'Parallel'
    const byOrdinal = new Map(pods.map(pod => [ordinalOf(set, pod), pod]))
    const start = startOrdinal(set)
    const revisionFor = (ordinal: number): ControllerRevision =>
      isOfCurrent(set, ordinal, current, update) ? current : update
    const missing = function* (): Iterable<number> {
      for (let ordinal = start; ordinal < start + replicas; ordinal++) if (!byOrdinal.has(ordinal)) yield ordinal
    }

    // First the pods that should be there.
    let isBlocked = false
    for (let ordinal = start; ordinal < start + replicas && !isBlocked; ordinal++) {
      const pod = byOrdinal.get(ordinal)
      if (!pod) {
        if (!inOrder) break
        await stateful.create(set, ordinal, revisionFor(ordinal))
        return
      }
      if (isFinished(pod)) {
        if (!isTerminating(pod)) await stateful.delete(set, pod)
        if (inOrder) return
        continue
      }
      if (inOrder && (isTerminating(pod) || !isRunning(pod) || !isAvailable(pod, minReadySeconds, w.now())))
        isBlocked = true
      if (!isTerminating(pod)) await stateful.correct(set, pod)
    }
    if (isBlocked) return
    if (!inOrder) {
      const ordinals = missing()[Symbol.iterator]()
      const lacking = Math.min(
        replicas - [...byOrdinal.keys()].filter(each => isInRange(set, each)).length,
        MAX_AT_ONCE,
      )
      await inSlowStartBatches(lacking, async () => {
        const { value, done } = ordinals.next()
        if (!done) await stateful.create(set, value, revisionFor(value))
      })
    }
    await removeCondemned(set, pods, inOrder)
    await rollOut(set, byOrdinal, update)
  }

  /** Those beyond the number of replicas, from the last to the first. */
  async function removeCondemned(set: StatefulSet, pods: readonly Pod[], inOrder: boolean): Promise<void> {
    const condemned = pods
      .filter(pod => !isInRange(set, ordinalOf(set, pod)))
      .toSorted((a, b) => ordinalOf(set, b) - ordinalOf(set, a))
    for (const pod of condemned) await stateful.correct(set, pod)
    const firstUnhealthy = condemned.findLast(pod => !isRunning(pod) || !isReady(pod))
    for (const pod of condemned) {
      if (isTerminating(pod)) {
        if (inOrder) return
        continue
      }
      if (inOrder && (!isRunning(pod) || !isReady(pod)) && pod !== firstUnhealthy) return
      await stateful.delete(set, pod)
      if (inOrder) return
    }
  }

  async function rollOut(
    set: StatefulSet,
    byOrdinal: ReadonlyMap<number, Pod>,
    update: ControllerRevision,
  ): Promise<void> {
    const { updateStrategy = {}, replicas = 1, minReadySeconds = 0 } = set.spec
    if (updateStrategy.type === 'OnDelete') return
    const { partition = 0, maxUnavailable = 1 } = updateStrategy.rollingUpdate ?? {}
    const scaled = scaledValue(maxUnavailable, replicas, false)
    const start = startOrdinal(set)
    const there = [...byOrdinal].filter(([ordinal]) => isInRange(set, ordinal)).toSorted(([a], [b]) => b - a)
    const isMissing = (pod: Pod): boolean => isTerminating(pod) || !isAvailable(pod, minReadySeconds, w.now())
    let allowed = Math.max(1, scaled.ok ? scaled.value : 1) - there.filter(([, pod]) => isMissing(pod)).length
    for (const [ordinal, pod] of there) {
      if (ordinal < start + partition || allowed <= 0) return
      if (revisionOf(pod) === update.metadata.name || isTerminating(pod)) continue
      await stateful.delete(set, pod)
      allowed--
    }
  }
}

const MAX_AT_ONCE = 500

/** Whether a pod that is made now gets the template of before: the update has not come to its number. */
function isOfCurrent(
  set: StatefulSet,
  ordinal: number,
  current: ControllerRevision,
  update: ControllerRevision,
): boolean {
  if (current === update) return true
  const { updateStrategy = {} } = set.spec
  if (updateStrategy.type === 'OnDelete') return false
  const partition = updateStrategy.rollingUpdate?.partition
  const start = startOrdinal(set)
  return partition === undefined ? ordinal < start + (set.status.currentReplicas ?? 0) : ordinal < start + partition
}

function statusOf(
  set: StatefulSet,
  pods: readonly Pod[],
  current: ControllerRevision,
  update: ControllerRevision,
  collisionCount: number,
  now: number,
): StatefulSet['status'] {
  const { minReadySeconds = 0 } = set.spec
  const ready = pods.filter(pod => isRunning(pod) && isReady(pod))
  const living = pods.filter(pod => !isTerminating(pod))
  const of = ({ metadata }: ControllerRevision): number =>
    living.filter(pod => revisionOf(pod) === metadata.name).length
  const counts = {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter(pod => isAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: of(current),
    updatedReplicas: of(update),
  }
  const isRolling = set.spec.updateStrategy?.type !== 'OnDelete'
  const isDone = isRolling && counts.updatedReplicas === counts.replicas && counts.readyReplicas === counts.replicas
  return withoutZeros<StatefulSet['status']>(
    {
      observedGeneration: Number(set.metadata.generation ?? 0),
      ...counts,
      ...(isDone && { currentReplicas: counts.updatedReplicas }),
      currentRevision: isDone ? update.metadata.name : current.metadata.name,
      updateRevision: update.metadata.name,
      collisionCount,
      ...(set.status.conditions && { conditions: set.status.conditions }),
    },
    ['replicas', 'collisionCount', 'availableReplicas'],
  )
}
