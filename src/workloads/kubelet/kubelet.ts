// Plays the kubelets of the simulated nodes: pods that are bound start, become ready, end, are restarted and go, at the
// times of their plan. What happens next is decided by the stored status alone, so that it survives a copy of the server.
import type { Controller } from '../../controllers/start-controllers.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { Node, Pod, PodStatus } from '../api/objects.js'
import { conditionOf, isFinished, isTerminating, phaseOf } from '../common/conditions.js'
import { follow, keyOf, type Queue, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import type { Writes } from '../common/writes.js'
import { kubeletUser } from '../nodes/kubelet-user.js'
import { isSilent, isSimulated } from '../nodes/simulated-nodes.js'
import { createAddresses } from './addresses.js'
import { type Plan, planOf } from './plan.js'
import {
  endedStatus,
  failedStatus,
  type Place,
  readyStatus,
  restartAt,
  restartedStatus,
  runningStatus,
  waitingStatus,
  withEphemeralContainers,
} from './pod-status.js'

const KUBELET = 'kubelet'

export function startKubelets(w: WorkloadEnv): Controller {
  const writesByNode = new Map<string, Writes>()
  const addresses = createAddresses(w)

  function writesFor(node: string): Writes {
    let writes = writesByNode.get(node)
    if (!writes) writesByNode.set(node, (writes = w.writesAs(kubeletUser(node))))
    return writes
  }

  const controller = startWorkloadController(w, {
    name: 'kubelet',
    follow: queue => [
      follow(w.pods, queue, (pod, now) => (now?.spec.nodeName ? [keyOf(pod)] : [])),
      // A node that comes later, or comes back, takes up its pods.
      follow(w.nodes, queue, (node, now) => (now ? w.pods.onNode(node.metadata.name).map(keyOf) : [])),
    ],
    async reconcile(key, queue) {
      const pod = w.pods.get(...readKey(key))
      const node = pod?.spec.nodeName ? w.nodes.get('', pod.spec.nodeName) : undefined
      if (!pod || !node || !isSimulated(node) || isSilent(node)) return
      const writes = writesFor(node.metadata.name)
      if (isTerminating(pod)) return terminate(key, pod, writes, queue)
      if (isFinished(pod)) return
      const plan = planOf(pod, w.options)
      const status = statusNow(pod, node, plan)
      if (status) {
        await writes.update(
          w.pods,
          pod,
          // The decision was made by this version of the pod; a later one brings another look.
          old => (old.metadata.resourceVersion === pod.metadata.resourceVersion ? { ...old, status } : undefined),
          'status',
        )
        recordStart(pod, status, node.metadata.name)
      }
      const next = nextLook(w.pods.get(...readKey(key)) ?? pod, plan)
      if (next !== undefined) queue.addLater(key, next)
    },
  })

  /** The status that the pod should have now; undefined if it has it. */
  function statusNow(pod: Pod, node: Node, plan: Plan): PodStatus | undefined {
    const now = w.now()
    const place = placeOf(pod, node)
    const isReady = (since: number): boolean => since + plan.readyAfterMs <= now
    const deadline = deadlineOf(pod)
    let status: PodStatus
    if (deadline <= now) {
      status = failedStatus(
        pod,
        now,
        'DeadlineExceeded',
        'Pod was active on the node longer than the specified deadline',
      )
    } else if (phaseOf(pod) !== 'Running') {
      if (plan.imagePullError !== undefined) {
        status = waitingStatus(pod, place(), now, 'ImagePullBackOff', plan.imagePullError)
      } else if (scheduledAt(pod) + plan.startAfterMs > now)
        status = waitingStatus(pod, place(), now, 'ContainerCreating')
      else status = runningStatus(pod, place(), now, plan.readyAfterMs === 0)
    } else if (hasToRestart(pod)) status = restartedStatus(pod, now, plan.readyAfterMs === 0)
    else {
      const since = startedAt(pod)
      if (since === undefined) return undefined
      if (since + plan.failAfterMs <= now) status = endedStatus(pod, now, plan.failure)
      else if (since + plan.completeAfterMs <= now) status = endedStatus(pod, now, { exitCode: 0, reason: 'Completed' })
      else status = readyStatus(pod, now, isReady(since))
    }
    if (status.phase === 'Running') status = withEphemeralContainers(pod, status, now)
    return equalValues(status as unknown as Value, (pod.status ?? {}) as unknown as Value) ? undefined : status
  }

  /** The milliseconds until the next thing happens by itself. */
  function nextLook(pod: Pod, plan: Plan): number | undefined {
    if (isFinished(pod) || isTerminating(pod)) return undefined
    const now = w.now()
    const since = startedAt(pod)
    const times = [
      deadlineOf(pod),
      ...(phaseOf(pod) === 'Running' ? [] : [scheduledAt(pod) + plan.startAfterMs]),
      ...(since === undefined
        ? []
        : [since + plan.readyAfterMs, since + plan.completeAfterMs, since + plan.failAfterMs]),
      ...(pod.status?.containerStatuses ?? []).map(each => restartAt(pod, each) ?? Number.POSITIVE_INFINITY),
    ].filter(at => at > now && Number.isFinite(at))
    return times.length === 0 ? undefined : Math.min(...times) - now
  }

  async function terminate(key: string, pod: Pod, writes: Writes, queue: Queue): Promise<void> {
    const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata
    const graceMs = Number(deletionGracePeriodSeconds) * 1000
    const asked = Date.parse(deletionTimestamp) - graceMs
    const left = asked + Math.min(planOf(pod, w.options).terminateAfterMs, graceMs) - w.now()
    if (left > 0) return queue.addLater(key, left)
    // The status of a pod that stays for a finalizer says how it has ended; of one that goes no one would read it.
    if (finalizers.length > 0 && !isFinished(pod)) {
      const now = w.now()
      const ended = endedStatus(pod, now, { exitCode: 143, reason: 'Error' })
      await writes.setStatus(w.pods, pod, {
        ...ended,
        phase: isFinished({ ...pod, status: ended }) ? ended.phase : 'Failed',
      })
    }
    if (graceMs > 0) await writes.delete(w.pods, pod, { gracePeriodSeconds: 0 })
  }

  function recordStart(pod: Pod, status: PodStatus, node: string): void {
    const restarts = (of: PodStatus | undefined, name: string): number =>
      of?.containerStatuses?.find(each => each.name === name && each.state?.running)?.restartCount ?? -1
    for (const { name, image } of pod.spec.containers) {
      if (restarts(status, name) === restarts(pod.status, name) || restarts(status, name) < 0) continue
      const recorder = w.recorder(KUBELET, node)
      const path = `spec.containers{${name}}`
      const pulled = `Container image "${image}" already present on machine and can be accessed by the pod`
      recorder.record(pod, 'Normal', 'Pulled', pulled, path)
      recorder.record(pod, 'Normal', 'Created', 'Container created', path)
      recorder.record(pod, 'Normal', 'Started', 'Container started', path)
    }
  }

  /** Late, because an address is taken only for a pod that starts. */
  const placeOf =
    (pod: Pod, node: Node): (() => Place) =>
    () => {
      const hostIP = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1'
      return { hostIP, podIP: pod.spec.hostNetwork ? hostIP : addresses.of(pod) }
    }

  return {
    idle: () => controller.idle(),
    stop() {
      controller.stop()
      addresses.stop()
    },
  }
}

const scheduledAt = (pod: Pod): number => {
  const scheduled = conditionOf(pod.status?.conditions, 'PodScheduled')
  return Date.parse(
    (scheduled?.status === 'True' ? scheduled.lastTransitionTime : undefined) ?? pod.metadata.creationTimestamp,
  )
}

/** When the container that was started last was started; undefined if none runs. */
function startedAt(pod: Pod): number | undefined {
  const times = (pod.status?.containerStatuses ?? []).flatMap(({ state }) =>
    state?.running?.startedAt ? [Date.parse(state.running.startedAt)] : [],
  )
  return times.length === 0 ? undefined : Math.max(...times)
}

const hasToRestart = (pod: Pod): boolean =>
  (pod.status?.containerStatuses ?? []).some(each => restartAt(pod, each) !== undefined)

function deadlineOf({ spec: { activeDeadlineSeconds }, status }: Pod): number {
  if (activeDeadlineSeconds === undefined || !status?.startTime) return Number.POSITIVE_INFINITY
  return Date.parse(status.startTime) + Number(activeDeadlineSeconds) * 1000
}
