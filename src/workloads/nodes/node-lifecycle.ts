// Watches over nodes: one whose kubelet is silent is Unknown, conditions become taints, and the pods of a node that is not
// ready are not ready either.
import type { Controller } from '../../controllers/start-controllers.js'
import { printTime } from '../../meta/values/time.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { Condition, Node, Pod, Taint } from '../api/objects.js'
import { conditionOf, isReady, without } from '../common/conditions.js'
import { follow, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { isSilent, isSimulated } from './simulated-nodes.js'

const COMPONENT = 'node-controller'
const LEASES = 'kube-node-lease'
/** A node that has not been heard of for so long is Unknown. */
const GRACE_MS = 50_000
const HEARD_BY_LEASE = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'

/** The taints that keep new pods away, by condition and its status. */
const NO_SCHEDULE: readonly [type: string, status: string, key: string][] = [
  ['Ready', 'False', NOT_READY],
  ['Ready', 'Unknown', UNREACHABLE],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
]
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable'

export function startNodeLifecycle(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const recorder = w.recorder(COMPONENT)

  return startWorkloadController(w, {
    name: 'node_lifecycle_controller',
    follow: queue => [
      follow(w.nodes, queue, (node, now) => (now ? [node.metadata.name] : [])),
      follow(w.leases, queue, lease => (lease.metadata.namespace === LEASES ? [lease.metadata.name] : [])),
      follow(w.pods, queue, (_, now) => (now?.spec.nodeName && isReady(now) ? [now.spec.nodeName] : [])),
    ],
    async reconcile(name, queue) {
      const found = w.nodes.get('', name)
      if (!found) return
      const node = await withUnknown(found)
      await syncTaints(node)
      const ready = conditionOf(node.status?.conditions, 'Ready')
      if (ready && ready.status !== 'True') await markPods(node)
      const left = heardAt(node) + GRACE_MS - w.now()
      if (left > 0 && !isAlive(node)) queue.addLater(name, left + 1000)
    },
  })

  /** A simulated node that is not made silent is alive, however far the clock has jumped. */
  function isAlive(node: Node): boolean {
    return w.simulates && isSimulated(node) && !isSilent(node)
  }

  function heardAt(node: Node): number {
    const lease = w.leases.get(LEASES, node.metadata.name)
    const ready = conditionOf(node.status?.conditions, 'Ready')
    const times = [lease?.spec.renewTime, ready?.lastHeartbeatTime, node.metadata.creationTimestamp]
    return Math.max(...times.map(time => Date.parse(time ?? '') || 0))
  }

  async function withUnknown(node: Node): Promise<Node> {
    if (isAlive(node) || heardAt(node) + GRACE_MS > w.now()) return node
    const before = node.status?.conditions
    const isStale = HEARD_BY_LEASE.some(type => conditionOf(before, type)?.status !== 'Unknown')
    if (!isStale) return node
    const wasReady = conditionOf(before, 'Ready')?.status === 'True'
    const time = printTime(w.now())
    const unknown = HEARD_BY_LEASE.map((type): Condition => {
      const old = conditionOf(before, type)
      if (old?.status === 'Unknown') return old
      const why = old
        ? { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
        : { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' }
      const { lastHeartbeatTime = node.metadata.creationTimestamp } = old ?? {}
      return { type, status: 'Unknown', lastHeartbeatTime, lastTransitionTime: time, ...why }
    })
    const others = (before ?? []).filter(({ type }) => !HEARD_BY_LEASE.includes(type))
    const written = await writes.setStatus(w.nodes, node, { ...node.status, conditions: [...others, ...unknown] })
    if (wasReady) {
      const { name } = node.metadata
      recorder.record(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)
    }
    return written ?? node
  }

  async function syncTaints(node: Node): Promise<void> {
    const wanted = wantedTaints(node)
    const keys = new Set([...NO_SCHEDULE.map(([, , key]) => key), UNSCHEDULABLE])
    await writes.update(w.nodes, node, old => {
      const before = old.spec.taints ?? []
      const isOurs = ({ key, effect }: Taint): boolean => keys.has(key) && effect !== 'PreferNoSchedule'
      const same = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect
      const kept = before.filter(taint => !isOurs(taint) || wanted.some(each => same(each, taint)))
      const added = wanted.filter(taint => !kept.some(each => same(each, taint)))
      const taints = [...kept, ...added]
      if (equalValues(taints as unknown as Value, before as unknown as Value)) return undefined
      const { taints: _, ...spec } = old.spec
      return { ...old, spec: taints.length === 0 ? spec : { ...spec, taints } }
    })
  }

  function wantedTaints(node: Node): Taint[] {
    const timeAdded = printTime(w.now())
    const conditions = node.status?.conditions
    const byCondition = NO_SCHEDULE.filter(([type, status]) => conditionOf(conditions, type)?.status === status).map(
      ([, , key]) => key,
    )
    const ready = conditionOf(conditions, 'Ready')?.status
    const ending = ready === 'False' ? NOT_READY : ready === 'Unknown' ? UNREACHABLE : undefined
    return [
      ...byCondition.map(key => ({ key, effect: 'NoSchedule', timeAdded })),
      ...(node.spec.unschedulable ? [{ key: UNSCHEDULABLE, effect: 'NoSchedule', timeAdded }] : []),
      ...(ending === undefined ? [] : [{ key: ending, effect: 'NoExecute', timeAdded }]),
    ]
  }

  async function markPods(node: Node): Promise<void> {
    for (const pod of w.pods.onNode(node.metadata.name)) {
      if (!isReady(pod)) continue
      recorder.record(pod, 'Warning', 'NodeNotReady', 'Node is not ready')
      await writes.setStatus(w.pods, pod, notReady(pod))
    }
  }

  function notReady(pod: Pod): object {
    const ready = conditionOf(pod.status?.conditions, 'Ready')!
    const conditions = [
      ...without(pod.status?.conditions, 'Ready'),
      { ...ready, status: 'False', lastTransitionTime: printTime(w.now()) },
    ]
    return { ...pod.status, conditions }
  }
}
