// Keeps one pod of a DaemonSet on each node where it belongs, and brings them to a new template a few at a time.
import type { Controller } from '../../controllers/start-controllers.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { type IntOrString, scaledValue } from '../../meta/values/int-or-string.js'
import type { DaemonSet, Node, Pod } from '../api/objects.js'
import { isAvailable, isReady, isTerminating, phaseOf, untilNextAvailable } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { claim } from '../common/controller-ref.js'
import { createPodControl } from '../common/pod-control.js'
import { withoutZeros } from '../common/status.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { cleanUpRevisions, REVISION_HASH, type Revisions, syncRevisions } from '../revisions/controller-revisions.js'
import { nodeOf, shouldRun, specFor } from './daemon-pods.js'

const COMPONENT = 'daemonset-controller'
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'
const MAX_AT_ONCE = 250

export function startDaemonSetController(w: WorkloadEnv): Controller {
  const writes = w.writesOf('daemon-set-controller')
  const recorder = w.recorder(COMPONENT)
  const pods = createPodControl(w, writes, recorder)

  function* keysOfPod(pod: Pod): Iterable<string> {
    const owner = controllerOf(pod)
    const { namespace = '', labels = {} } = pod.metadata
    if (owner) {
      if (owner.kind === 'DaemonSet') yield `${namespace}/${owner.name}`
      return
    }
    for (const set of w.daemonSets.all(namespace)) {
      const selector = selectorOf(set.spec.selector)
      if (selector.ok && selector.value.length > 0 && matchesLabels(selector.value, labels)) yield keyOf(set)
    }
  }

  return startWorkloadController(w, {
    name: 'daemonset',
    follow: queue => [
      follow(w.daemonSets, queue, each => [keyOf(each)]),
      follow(w.pods, queue, keysOfPod),
      () =>
        w.nodes.follow((now, before) => {
          if (!changesPlacement(now, before)) return
          for (const set of w.daemonSets.all()) queue().add(keyOf(set))
        }),
    ],
    async reconcile(key, queue) {
      const set = w.daemonSets.get(...readKey(key))
      const selector = selectorOf(set?.spec.selector)
      if (!set || !selector.ok) return
      if (selector.value.length === 0) {
        const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
        return recorder.record(set, 'Warning', 'SelectingAll', message)
      }
      const revisions = await syncRevisions(w, writes, {
        owner: set,
        selector: selector.value,
        labels: set.spec.template.metadata?.labels ?? {},
        collisions: set.status.collisionCount ?? 0,
        hashLabel: REVISION_HASH,
      })
      const hash = revisions.update.metadata.labels?.[REVISION_HASH] ?? ''
      let claimed = await claim(set, selector.value, w.pods, writes)
      let failure: { readonly error: unknown } | undefined
      if (set.metadata.deletionTimestamp === undefined) {
        try {
          await manage(set, claimed, hash)
          claimed = [...w.pods.ownedBy(set.metadata.uid)]
          if (set.spec.updateStrategy?.type !== 'OnDelete') await rollOut(set, claimed, hash)
        } catch (error) {
          failure = { error }
        }
      }
      const current = w.pods.ownedBy(set.metadata.uid)
      await writes.setStatus(w.daemonSets, set, statusOf(set, current, hash))
      if (failure) throw failure.error
      await cleanUp(set, revisions, current, hash)
      const wait = untilNextAvailable(current, set.spec.minReadySeconds ?? 0, w.now())
      if (wait !== undefined) queue.addLater(key, wait)
    },
  })

  async function cleanUp(set: DaemonSet, revisions: Revisions, current: readonly Pod[], hash: string): Promise<void> {
    const used = new Set([hash, ...current.map(pod => pod.metadata.labels?.[REVISION_HASH])])
    const limit = set.spec.revisionHistoryLimit ?? 10
    await cleanUpRevisions(w, writes, revisions, ({ metadata }) => used.has(metadata.labels?.[REVISION_HASH]), limit)
  }

  // ---- one pod on each node

  async function manage(set: DaemonSet, claimed: readonly Pod[], hash: string): Promise<void> {
    const byNode = grouped(claimed)
    const missing: string[] = []
    const excess: Pod[] = []
    for (const node of w.nodes.all()) {
      const { starts, stays } = shouldRun(set, node)
      const there = byNode.get(node.metadata.name) ?? []
      if (!stays) excess.push(...there)
      else if (there.length === 0) {
        if (starts) missing.push(node.metadata.name)
      } else {
        const running = there.filter(pod => !isTerminating(pod) && !endedOn(set, pod, node, excess))
        if (surgeOf(set) > 0) keepOldAndNew(set, running, hash, excess)
        else excess.push(...running.toSorted(byAge).slice(1))
        if (surgeOf(set) > 0 && running.length === 0 && starts) missing.push(node.metadata.name)
      }
    }
    // Of nodes that are gone; those that were on one are deleted by the pod garbage collector.
    for (const [node, there] of byNode) {
      if (!w.nodes.get('', node)) excess.push(...there.filter(({ spec }) => !spec.nodeName))
    }
    await apply(set, excess, missing, hash)
  }

  async function apply(
    set: DaemonSet,
    excess: readonly Pod[],
    missing: readonly string[],
    hash: string,
  ): Promise<void> {
    for (const pod of excess) await pods.delete(set, pod)
    const generation = set.metadata.annotations?.[TEMPLATE_GENERATION]
    const labels = { [REVISION_HASH]: hash, ...(generation !== undefined && { 'pod-template-generation': generation }) }
    for (const node of missing.slice(0, MAX_AT_ONCE)) {
      const { template } = set.spec
      await pods.create(set, template, { labels, spec: specFor(template.spec, node) })
    }
  }

  /** A pod that has ended is deleted, and comes again. */
  function endedOn(set: DaemonSet, pod: Pod, node: Node, excess: Pod[]): boolean {
    const { name, namespace = '' } = pod.metadata
    const where = `${namespace}/${name} on node ${node.metadata.name}`
    if (phaseOf(pod) === 'Failed') {
      recorder.record(set, 'Warning', 'FailedDaemonPod', `Found failed daemon pod ${where}, will try to kill it`)
    } else if (phaseOf(pod) === 'Succeeded') {
      recorder.record(set, 'Normal', 'SucceededDaemonPod', `Found succeeded daemon pod ${where}, will try to delete it`)
    } else return false
    excess.push(pod)
    return true
  }

  /** With a surge there may be an old pod and a new one, until the new one is available. */
  function keepOldAndNew(set: DaemonSet, running: readonly Pod[], hash: string, excess: Pod[]): void {
    const isNew = (pod: Pod): boolean => pod.metadata.labels?.[REVISION_HASH] === hash
    const [oldest, ...rest] = running.filter(pod => !isNew(pod)).toSorted(byAge)
    const [newest, ...others] = running.filter(isNew).toSorted(byAge)
    excess.push(...rest, ...others)
    if (!oldest || !newest) return
    const isReplaced = isAvailable(newest, set.spec.minReadySeconds ?? 0, w.now())
    if (!isReady(oldest) || isReplaced) excess.push(oldest)
  }

  // ---- rolling update

  async function rollOut(set: DaemonSet, claimed: readonly Pod[], hash: string): Promise<void> {
    const { minReadySeconds = 0 } = set.spec
    const surge = surgeOf(set)
    const nodes = [...w.nodes.all()].filter(node => shouldRun(set, node).starts)
    const desired = nodes.length
    const isNew = (pod: Pod): boolean => pod.metadata.labels?.[REVISION_HASH] === hash
    const isThere = (pod: Pod): boolean => isAvailable(pod, minReadySeconds, w.now())
    const replaceable: Pod[] = []
    const candidates: Pod[] = []
    const free: string[] = []
    let unavailable = 0
    let surging = 0
    for (const [node, all] of grouped(claimed)) {
      const living = all.filter(pod => !isTerminating(pod))
      const newPod = living.find(isNew)
      const oldPod = living.find(pod => !isNew(pod))
      if (Boolean(newPod) === Boolean(oldPod)) {
        unavailable++
        if (newPod && oldPod && !isThere(newPod)) surging++
      } else if (newPod) {
        if (!isThere(newPod)) unavailable++
      } else if (!isThere(oldPod!)) {
        replaceable.push(oldPod!)
        free.push(node)
        unavailable++
      } else candidates.push(oldPod!)
    }
    if (surge === 0) {
      const max = scaled(set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, desired)
      const allowed = Math.max(0, max - unavailable)
      return apply(set, [...replaceable, ...candidates.slice(0, allowed)], [], hash)
    }
    const max = scaled(set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, desired)
    const places = [...free, ...candidates.slice(0, Math.max(0, max - surging)).map(pod => nodeOf(pod)!)]
    await apply(set, [], places, hash)
  }

  // ---- status

  function statusOf(set: DaemonSet, current: readonly Pod[], hash: string): DaemonSet['status'] {
    const { minReadySeconds = 0 } = set.spec
    const byNode = grouped(current)
    const status = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 }
    for (const node of w.nodes.all()) {
      const [pod] = (byNode.get(node.metadata.name) ?? []).toSorted(byAge)
      if (!shouldRun(set, node).starts) {
        if (pod) status.misscheduled++
        continue
      }
      status.desired++
      if (!pod) continue
      status.current++
      if (isReady(pod)) status.ready++
      if (isAvailable(pod, minReadySeconds, w.now())) status.available++
      if (pod.metadata.labels?.[REVISION_HASH] === hash) status.updated++
    }
    return withoutZeros<DaemonSet['status']>(
      {
        currentNumberScheduled: status.current,
        numberMisscheduled: status.misscheduled,
        desiredNumberScheduled: status.desired,
        numberReady: status.ready,
        observedGeneration: Number(set.metadata.generation ?? 0),
        updatedNumberScheduled: status.updated,
        numberAvailable: status.available,
        numberUnavailable: status.desired - status.available,
        ...(set.status.collisionCount !== undefined && { collisionCount: set.status.collisionCount }),
      },
      ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
    )
  }
}

function surgeOf(set: DaemonSet): number {
  const surge = set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0
  return set.spec.updateStrategy?.type === 'OnDelete' || surge === 0 || surge === '0%' ? 0 : 1
}

/** At least one, if it is not 0 itself. */
function scaled(value: IntOrString, total: number): number {
  const result = scaledValue(value, total, true)
  return result.ok ? result.value : 1
}

function grouped(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNode = new Map<string, Pod[]>()
  for (const pod of pods) {
    const node = nodeOf(pod)
    if (node === undefined) continue
    const there = byNode.get(node)
    if (there) there.push(pod)
    else byNode.set(node, [pod])
  }
  return byNode
}

/** Bound ones first, then older ones. */
const byAge = (a: Pod, b: Pod): number =>
  Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName)) ||
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  (a.metadata.name < b.metadata.name ? -1 : 1)

const changesPlacement = (now: Node | undefined, before: Node | undefined): boolean =>
  !now ||
  !before ||
  JSON.stringify([now.metadata.labels, now.spec]) !== JSON.stringify([before.metadata.labels, before.spec])
