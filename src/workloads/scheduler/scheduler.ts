// Binds pods to nodes, as kube-scheduler does for one pod after the other: the nodes on which a pod fits, and of these
// the one with the fewest pods. A pod that fits nowhere is tried again when something changes that may help.
import type { Controller } from '../../controllers/start-controllers.js'
import { hasReason } from '../../meta/errors/status.js'
import { printTime } from '../../meta/values/time.js'
import type { Node, Pod } from '../api/objects.js'
import { conditionOf, isFinished, isTerminating, without } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { matchesTerm } from '../common/node-matching.js'
import { createPodActions } from '../common/pod-actions.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { chooseVolumes, claimsAgainst } from './claims.js'
import { type Fit, fitsOf } from './node-fit.js'

const NAME = 'default-scheduler'
const SCHEDULER = { user: 'system:kube-scheduler', groups: [], manager: 'kube-scheduler' }

export function startScheduler(w: WorkloadEnv): Controller {
  const writes = w.writesAs(SCHEDULER)
  const actions = createPodActions(w, SCHEDULER)
  const recorder = w.recorder(NAME)
  /** Keys of pods that fitted nowhere. */
  const waiting = new Set<string>()

  const isMine = (pod: Pod): boolean =>
    !pod.spec.nodeName &&
    !isFinished(pod) &&
    !isTerminating(pod) &&
    (pod.spec.schedulerName ?? NAME) === NAME &&
    (pod.spec.schedulingGates ?? []).length === 0

  return startWorkloadController(w, {
    name: 'scheduler',
    // One after the other, so that each sees where the one before went.
    concurrency: 1,
    follow: queue => {
      const retry = (): Iterable<string> => (waiting.size === 0 ? [] : [...waiting])
      return [
        follow(w.pods, queue, (pod, now) => {
          if (!now) waiting.delete(keyOf(pod))
          if (now && isMine(now)) return waiting.has(keyOf(now)) ? [] : [keyOf(now)]
          // It has left room, or is where others want to be near.
          return !now || isFinished(now) || now.spec.nodeName ? retry() : []
        }),
        follow(w.nodes, queue, retry),
        follow(w.claims, queue, retry),
        follow(w.volumes, queue, retry),
      ]
    },
    async reconcile(key) {
      const pod = w.pods.get(...readKey(key))
      if (!pod || !isMine(pod)) return void waiting.delete(key)
      const claims = claimsAgainst(w, pod)
      if (claims !== undefined) return refuse(key, pod, claims)
      const fits = fitsOf(w, pod)
      const possible = fits.filter(({ reasons }) => reasons.length === 0).map(({ node }) => node)
      const chosen = best(pod, possible)
      if (!chosen) return refuse(key, pod, summary(fits))
      if (!(await chooseVolumes(w, writes, pod, chosen))) return void waiting.add(key)
      waiting.delete(key)
      await bind(pod, chosen)
    },
  })

  async function bind(pod: Pod, node: Node): Promise<void> {
    const { namespace = '', name } = pod.metadata
    try {
      await actions.bind(pod, node.metadata.name)
    } catch (error) {
      if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return
      throw error
    }
    recorder.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`)
  }

  async function refuse(key: string, pod: Pod, message: string): Promise<void> {
    waiting.add(key)
    const before = conditionOf(pod.status?.conditions, 'PodScheduled')
    if (before?.status === 'False' && before.message === message) return
    recorder.record(pod, 'Warning', 'FailedScheduling', message)
    await writes.update(
      w.pods,
      pod,
      old => ({
        ...old,
        status: {
          ...old.status,
          conditions: [
            ...without(old.status?.conditions, 'PodScheduled'),
            {
              type: 'PodScheduled',
              status: 'False',
              lastProbeTime: null,
              lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime! : printTime(w.now()),
              reason: 'Unschedulable',
              message,
              ...(old.metadata.generation !== undefined && { observedGeneration: Number(old.metadata.generation) }),
            },
          ],
        },
      }),
      'status',
    )
  }

  /** The node with the fewest pods of the same owner, then that which the pod prefers, then with the fewest pods. */
  function best(pod: Pod, nodes: readonly Node[]): Node | undefined {
    const owner = controllerOf(pod)?.uid
    const preferred = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    const ranked = nodes.map(node => {
      const there = w.pods.onNode(node.metadata.name).filter(each => !isFinished(each))
      const weight = preferred
        .filter(({ preference }) => matchesTerm(preference, node))
        .reduce((sum, each) => sum + each.weight, 0)
      const siblings = owner === undefined ? 0 : there.filter(each => controllerOf(each)?.uid === owner).length
      return { node, ranks: [-weight, siblings, there.length] }
    })
    ranked.sort(
      (a, b) =>
        a.ranks[0]! - b.ranks[0]! ||
        a.ranks[1]! - b.ranks[1]! ||
        a.ranks[2]! - b.ranks[2]! ||
        (a.node.metadata.name < b.node.metadata.name ? -1 : 1),
    )
    return ranked[0]?.node
  }
}

/** Reasons that another pod's end could not help against. */
const FINAL = /^node\(s\) (were unschedulable|had untolerated|didn't match Pod's node|didn't match pod affinity)/

/** `0/3 nodes are available: 1 Insufficient cpu, …`, with the reasons in order. */
function summary(fits: readonly Fit[]): string {
  const all = `0/${fits.length} nodes are available`
  if (fits.length === 0) return 'no nodes available to schedule pods'
  const preemption = fits.map(({ reasons }) =>
    reasons.some(reason => FINAL.test(reason))
      ? 'Preemption is not helpful for scheduling'
      : 'No preemption victims found for incoming pod',
  )
  const reasons = counted(fits.flatMap(each => [...each.reasons]))
  return `${all}: ${reasons}. no new claims to deallocate, preemption: ${all}: ${counted(preemption)}.`
}

function counted(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts]
    .map(([text, count]) => `${count} ${text}`)
    .toSorted()
    .join(', ')
}
