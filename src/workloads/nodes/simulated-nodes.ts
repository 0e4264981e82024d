// The simulated nodes: created at the start if there are none, kept Ready, with a Lease that is renewed.
import type { Controller } from '../../controllers/start-controllers.js'
import { hasReason } from '../../meta/errors/status.js'
import { printMicroTime, printTime } from '../../meta/values/time.js'
import type { Condition, Node } from '../api/objects.js'
import { conditionOf } from '../common/conditions.js'
import { follow, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { kubeletUser } from './kubelet-user.js'

/** A node with `false` is not simulated: something else writes its status. */
export const SIMULATED = 'binnacle.dev/simulated'
/** `true`: the simulated node does not answer any more: its Lease is not renewed. */
export const SILENT = 'binnacle.dev/silent'
const LEASES = 'kube-node-lease'
const RENEW_MS = 10_000
const LEASE_SECONDS = 40

export const isSimulated = ({ metadata: { labels } }: Node): boolean => labels?.[SIMULATED] !== 'false'
export const isSilent = ({ metadata: { annotations } }: Node): boolean => annotations?.[SILENT] === 'true'

export async function startSimulatedNodes(w: WorkloadEnv): Promise<Controller> {
  const { options } = w
  if (w.nodes.size === 0) for (let i = 1; i <= options.nodes; i++) await createNode(i)

  async function createNode(i: number): Promise<void> {
    const name = `node-${i}`
    await w.writesAs(kubeletUser(name)).create(w.nodes, {
      metadata: {
        name,
        labels: {
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': name,
          'kubernetes.io/os': 'linux',
          'topology.kubernetes.io/region': 'simulated',
          'topology.kubernetes.io/zone': `zone-${((i - 1) % 3) + 1}`,
          [SIMULATED]: 'true',
        },
      },
      spec: { podCIDR: `10.244.${i - 1}.0/24`, podCIDRs: [`10.244.${i - 1}.0/24`] },
    })
  }

  return startWorkloadController(w, {
    name: 'simulated_nodes',
    follow: queue => [
      follow(w.nodes, queue, (node, now) => (now && isSimulated(now) ? [`/${node.metadata.name}`] : [])),
    ],
    async reconcile(key, queue) {
      const name = key.slice(1)
      const node = w.nodes.get('', name)
      if (!node || !isSimulated(node) || isSilent(node)) return
      const writes = w.writesAs(kubeletUser(name))
      const status = statusOf(node, w)
      await writes.setStatus(w.nodes, node, status)
      const lease = w.leases.get(LEASES, name)
      const now = w.now()
      const left = lease ? Date.parse(lease.spec.renewTime ?? '') + RENEW_MS - now : 0
      if (!(left > 0)) await renew(node, writes)
      queue.addLater(key, left > 0 ? left : RENEW_MS)
    },
  })

  async function renew(node: Node, writes: ReturnType<WorkloadEnv['writesAs']>): Promise<void> {
    const { name, uid } = node.metadata
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: printMicroTime(w.now()),
    }
    const lease = w.leases.get(LEASES, name)
    if (lease) return void (await writes.update(w.leases, lease, old => ({ ...old, spec: { ...old.spec, ...spec } })))
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
    try {
      await writes.create(w.leases, { metadata: { name, namespace: LEASES, ownerReferences }, spec })
    } catch (error) {
      // Its namespace is being deleted, or another wrote it.
      if (!hasReason(error, 'AlreadyExists') && !hasReason(error, 'Forbidden') && !hasReason(error, 'NotFound'))
        throw error
    }
  }
}

/** What a kubelet says of its node. What a user has set as its capacity stays. */
function statusOf(node: Node, { options, now }: WorkloadEnv): object {
  const { cpu, memory, pods } = options.node
  const offered = { cpu, 'ephemeral-storage': '100Gi', memory, pods: String(pods) }
  const { name } = node.metadata
  const status = node.status ?? {}
  return {
    ...status,
    capacity: { ...offered, ...status.capacity },
    allocatable: { ...offered, ...status.capacity, ...status.allocatable },
    conditions: conditionsOf(node, now()),
    addresses: status.addresses ?? [
      { type: 'InternalIP', address: addressOf(node) },
      { type: 'Hostname', address: name },
    ],
    declaredFeatures: DECLARED_FEATURES,
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: node.metadata.uid.replaceAll('-', ''),
      systemUUID: node.metadata.uid,
      bootID: node.metadata.uid,
      kernelVersion: 'simulated',
      osImage: 'simulated',
      containerRuntimeVersion: 'simulated://1',
      kubeletVersion: 'v1.36.4',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  }
}

/** What kubelets of v1.36 can do in their default configuration: changes of pods that need it are accepted. */
const DECLARED_FEATURES = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
]

const READY = 'kubelet is posting ready status'
const CONDITIONS: readonly [type: string, status: string, reason: string, message: string][] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', READY],
]

/** A condition that something else has set stays, apart from Unknown, which says that the kubelet was silent. */
function conditionsOf(node: Node, now: number): Condition[] {
  const before = node.status?.conditions ?? []
  const made = CONDITIONS.map(([type, status, reason, message]): Condition => {
    const old = conditionOf(before, type)
    if (old && old.status !== 'Unknown') return old
    const time = printTime(now)
    return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime: time }
  })
  const types = new Set(made.map(({ type }) => type))
  return [...before.filter(({ type }) => !types.has(type)), ...made]
}

/** An address that follows from the name, so that a node keeps it. */
function addressOf({ metadata: { name } }: Node): string {
  const number = /(\d+)$/.exec(name)?.[1]
  const value =
    number === undefined
      ? Buffer.from(name).reduce((sum, each) => (sum * 31 + each) % 60_000, 7)
      : Number(number) % 60_000
  return `10.10.${Math.floor(value / 250)}.${(value % 250) + 1}`
}
