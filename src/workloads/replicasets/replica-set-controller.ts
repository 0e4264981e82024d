// Keeps as many pods as a ReplicaSet or a ReplicationController asks for.
import type { Controller } from '../../controllers/start-controllers.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { printTime } from '../../meta/values/time.js'
import type { Condition, Pod, ReplicaSet, ReplicaSetStatus, WorkloadObject } from '../api/objects.js'
import {
  conditionOf,
  isActive,
  isAvailable,
  isFinished,
  isReady,
  isTerminating,
  untilNextAvailable,
  without,
} from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { claim } from '../common/controller-ref.js'
import { podsToDelete } from '../common/deletion-order.js'
import { createPodControl, inSlowStartBatches, isNamespaceEnding, messageOf } from '../common/pod-control.js'
import type { SharedObjects } from '../common/shared-objects.js'
import { withoutZeros } from '../common/status.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'

/** At most so many pods are created or deleted at a time. */
const BURST = 500

interface ReplicaKind {
  readonly kind: string
  readonly apiVersion: string
  /** The name of its account and of the source of its events. */
  readonly component: string
  readonly queue: string
  readonly objects: SharedObjects<WorkloadObject>
  read(object: WorkloadObject): ReplicaSet
  readonly countsTerminating: boolean
}

export const startReplicaSetController = (w: WorkloadEnv): Controller =>
  startReplicaController(w, {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    component: 'replicaset-controller',
    queue: 'replicaset',
    objects: w.replicaSets,
    read: object => object as ReplicaSet,
    countsTerminating: true,
  })

export const startReplicationController = (w: WorkloadEnv): Controller =>
  startReplicaController(w, {
    kind: 'ReplicationController',
    apiVersion: 'v1',
    component: 'replication-controller',
    queue: 'replicationmanager',
    objects: w.replicationControllers,
    read(object) {
      // Its selector is a map of labels.
      const controller = object as unknown as ReplicaSet & {
        readonly spec: { readonly selector?: Readonly<Record<string, string>> }
      }
      return { ...controller, spec: { ...controller.spec, selector: { matchLabels: controller.spec.selector ?? {} } } }
    },
    countsTerminating: false,
  })

function startReplicaController(w: WorkloadEnv, replicaKind: ReplicaKind): Controller {
  const { kind, apiVersion, component, objects, read } = replicaKind
  const writes = w.writesOf(component)
  const pods = createPodControl(w, writes, w.recorder(component))

  /** The keys that a change of a pod concerns: of its controller, or of those that may adopt it. */
  function* keysOfPod(pod: Pod): Iterable<string> {
    const owner = controllerOf(pod)
    const { namespace = '', labels = {} } = pod.metadata
    if (owner) {
      if (owner.kind === kind && owner.apiVersion === apiVersion) yield `${namespace}/${owner.name}`
      return
    }
    for (const each of objects.all(namespace)) {
      const selector = selectorOf(read(each).spec.selector)
      if (selector.ok && selector.value.length > 0 && matchesLabels(selector.value, labels)) yield keyOf(each)
    }
  }

  return startWorkloadController(w, {
    name: replicaKind.queue,
    follow: queue => [follow(objects, queue, each => [keyOf(each)]), follow(w.pods, queue, keysOfPod)],
    async reconcile(key, queue) {
      const stored = objects.get(...readKey(key))
      if (!stored) return
      const set = read(stored)
      const selector = selectorOf(set.spec.selector)
      if (!selector.ok) return
      const claimed = await claim(set, selector.value, w.pods, writes, pod => !isFinished(pod))
      const active = claimed.filter(isActive)
      const replicas = set.spec.replicas ?? 1
      let failure: unknown
      try {
        if (set.metadata.deletionTimestamp === undefined) await manage(set, active, replicas)
      } catch (error) {
        failure = error
      }
      const now = w.now()
      const current = [...w.pods.ownedBy(set.metadata.uid)].filter(
        pod => !isFinished(pod) && matchesLabels(selector.value, pod.metadata.labels ?? {}),
      )
      const failed = failure === undefined ? undefined : { error: failure, active }
      const status = statusOf(set, current, failed, now, replicaKind.countsTerminating)
      await writes.setStatus(objects, stored, status)
      if (failure !== undefined && !isNamespaceEnding(failure)) throw failure
      const wait = untilNextAvailable(current.filter(isActive), set.spec.minReadySeconds ?? 0, now)
      if (wait !== undefined) queue.addLater(key, wait)
    },
  })

  async function manage(set: ReplicaSet, active: readonly Pod[], replicas: number): Promise<void> {
    const missing = replicas - active.length
    if (missing > 0) {
      await inSlowStartBatches(Math.min(missing, BURST), () => pods.create(set, set.spec.template))
      // More are made with the next look, which the events of these bring.
    } else if (missing < 0) {
      const related = [...w.pods.all(set.metadata.namespace ?? '')].filter(pod => isRelated(set, pod))
      const chosen = podsToDelete(active, Math.min(-missing, BURST), related, w.now())
      await Promise.all(chosen.map(pod => pods.delete(set, pod)))
    }
  }

  /** Whether the pods have the same owner: those of other ReplicaSets of a Deployment count where they are. */
  function isRelated(set: ReplicaSet, pod: Pod): boolean {
    const owner = controllerOf(pod)
    if (!owner || owner.kind !== kind) return false
    if (owner.uid === set.metadata.uid) return true
    const parent = controllerOf(set)
    const other = parent && objects.get(set.metadata.namespace ?? '', owner.name)
    return other !== undefined && controllerOf(other)?.uid === parent?.uid
  }
}

function statusOf(
  set: ReplicaSet,
  pods: readonly Pod[],
  failed: { readonly error: unknown; readonly active: readonly Pod[] } | undefined,
  now: number,
  countsTerminating: boolean,
): ReplicaSetStatus {
  const active = pods.filter(isActive)
  const labels = Object.entries(set.spec.template.metadata?.labels ?? {})
  const { minReadySeconds = 0, replicas = 1 } = set.spec
  const conditions = conditionsOf(set, failed, replicas, now)
  return withoutZeros<ReplicaSetStatus>(
    {
      replicas: active.length,
      fullyLabeledReplicas: active.filter(pod => labels.every(([name, value]) => pod.metadata.labels?.[name] === value))
        .length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter(pod => isAvailable(pod, minReadySeconds, now)).length,
      ...(countsTerminating && { terminatingReplicas: pods.filter(isTerminating).length }),
      observedGeneration: Number(set.metadata.generation ?? 0),
      conditions,
    },
    ['replicas', 'terminatingReplicas'],
  )
}

function conditionsOf(
  set: ReplicaSet,
  failed: { readonly error: unknown; readonly active: readonly Pod[] } | undefined,
  replicas: number,
  now: number,
): readonly Condition[] {
  const { conditions } = set.status
  if (!failed) return without(conditions, 'ReplicaFailure')
  if (conditionOf(conditions, 'ReplicaFailure')) return conditions ?? []
  return [
    ...(conditions ?? []),
    {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: printTime(now),
      reason: failed.active.length < replicas ? 'FailedCreate' : 'FailedDelete',
      message: messageOf(failed.error),
    },
  ]
}
