// Deletes pods that no kubelet will: of nodes that are gone, terminating ones without a node, and the oldest of very many
// that have ended.
import type { Controller } from '../../controllers/start-controllers.js'
import { printTime } from '../../meta/values/time.js'
import type { Pod } from '../api/objects.js'
import { isFinished, isTerminating, without } from '../common/conditions.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'

/** A node that is gone may come back within this time. */
const QUARANTINE_MS = 40_000
const MAX_FINISHED = 12_500

export function startPodGarbageCollector(w: WorkloadEnv): Controller {
  const writes = w.writesOf('pod-garbage-collector')
  /** When a node was seen to be gone. */
  const goneSince = new Map<string, number>()
  let finished = 0

  return startWorkloadController(w, {
    name: 'gc_nodes',
    follow: queue => [
      follow(w.pods, queue, (pod, now) => (now && concerns(now) ? [keyOf(pod)] : [])),
      () =>
        w.pods.follow((now, before) => {
          finished += Number(now !== undefined && isFinished(now)) - Number(before !== undefined && isFinished(before))
          if (finished > MAX_FINISHED) queue().add(FINISHED)
        }),
      () =>
        w.nodes.follow((now, before) => {
          const { name } = (now ?? before)!.metadata
          if (now) return void goneSince.delete(name)
          goneSince.set(name, w.now())
          for (const pod of w.pods.onNode(name)) queue().add(keyOf(pod))
        }),
    ],
    async reconcile(key, queue) {
      if (key === FINISHED) return deleteOldest()
      const pod = w.pods.get(...readKey(key))
      if (!pod || !concerns(pod)) return
      const { nodeName } = pod.spec
      if (!nodeName) return writes.delete(w.pods, pod, { gracePeriodSeconds: 0 })
      if (!goneSince.has(nodeName)) goneSince.set(nodeName, w.now())
      const left = goneSince.get(nodeName)! + QUARANTINE_MS - w.now()
      if (left > 0) return queue.addLater(key, left)
      await fail(pod, 'PodGC: node no longer exists')
      await writes.delete(w.pods, pod, { gracePeriodSeconds: 0 })
    },
  })

  function concerns(pod: Pod): boolean {
    const { nodeName } = pod.spec
    return nodeName ? !w.nodes.get('', nodeName) : isTerminating(pod)
  }

  async function fail(pod: Pod, message: string): Promise<void> {
    if (isFinished(pod)) return
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message,
      lastTransitionTime: printTime(w.now()),
    }
    const conditions = [...without(pod.status?.conditions, 'DisruptionTarget'), condition]
    await writes.setStatus(w.pods, pod, { ...pod.status, phase: 'Failed', conditions })
  }

  async function deleteOldest(): Promise<void> {
    const ended = [...w.pods.all()].filter(isFinished)
    const excess = ended
      .toSorted((a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp))
      .slice(0, Math.max(0, ended.length - MAX_FINISHED))
    for (const pod of excess) await writes.delete(w.pods, pod, { gracePeriodSeconds: 0 })
  }
}

const FINISHED = 'finished'
