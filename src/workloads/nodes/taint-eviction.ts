// Deletes pods from nodes with a NoExecute taint, at once or after the time for which they tolerate it.
import type { Controller } from '../../controllers/start-controllers.js'
import { printTime } from '../../meta/values/time.js'
import type { Pod } from '../api/objects.js'
import { isTerminating, without } from '../common/conditions.js'
import { tolerates } from '../common/node-matching.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'

const COMPONENT = 'taint-eviction-controller'

export function startTaintEviction(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const recorder = w.recorder(COMPONENT)
  return startWorkloadController(w, {
    name: 'taint_eviction_controller',
    follow: queue => [
      follow(w.pods, queue, (pod, now) => (now?.spec.nodeName ? [keyOf(pod)] : [])),
      () =>
        w.nodes.follow((now, before) => {
          const has = (taints = now?.spec.taints): boolean =>
            (taints ?? []).some(({ effect }) => effect === 'NoExecute')
          if (now && (has() || has(before?.spec.taints ?? []))) {
            for (const pod of w.pods.onNode(now.metadata.name)) queue().add(keyOf(pod))
          }
        }),
    ],
    async reconcile(key, queue) {
      const pod = w.pods.get(...readKey(key))
      if (!pod || isTerminating(pod)) return
      const at = evictionTime(pod)
      if (at === undefined) return
      if (at > w.now()) return queue.addLater(key, at - w.now())
      await evict(pod)
    },
  })

  /** When it is to be deleted; undefined if it tolerates all taints for good. */
  function evictionTime(pod: Pod): number | undefined {
    const taints = (w.nodes.get('', pod.spec.nodeName ?? '')?.spec.taints ?? []).filter(
      ({ effect }) => effect === 'NoExecute',
    )
    if (taints.length === 0) return undefined
    const times = taints.map(taint => {
      const tolerated = (pod.spec.tolerations ?? []).filter(each => tolerates(each, taint))
      if (tolerated.length === 0) return 0
      const seconds = tolerated.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => Number(tolerationSeconds))
      return (Date.parse(taint.timeAdded ?? '') || w.now()) + Math.max(0, Math.min(...seconds)) * 1000
    })
    const first = Math.min(...times)
    return Number.isFinite(first) ? first : undefined
  }

  async function evict(pod: Pod): Promise<void> {
    const { namespace = '', name } = pod.metadata
    recorder.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`)
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: printTime(w.now()),
    }
    const conditions = [...without(pod.status?.conditions, 'DisruptionTarget'), condition]
    await writes.setStatus(w.pods, pod, { ...pod.status, conditions })
    await writes.delete(w.pods, pod)
  }
}
