// What every controller of workloads works with: the shared objects, writes as a user of its own, events and the clock.
import type { ControllerEnv } from '../../controllers/start-controllers.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { componentObjects, systemObjects } from '../../verbs/system-writes.js'
import type * as api from '../api/objects.js'
import type { WorkloadOptions } from '../workload-options.js'
import { createEventSink, type EventRecorder, type EventSink } from './event-recorder.js'
import { type SharedObjects, startSharedObjects } from './shared-objects.js'
import { createWrites, type Writes } from './writes.js'

/** The kinds that the controllers share, by group and kind. */
const KINDS = {
  pods: ['', 'Pod'],
  nodes: ['', 'Node'],
  namespaces: ['', 'Namespace'],
  services: ['', 'Service'],
  endpoints: ['', 'Endpoints'],
  claims: ['', 'PersistentVolumeClaim'],
  volumes: ['', 'PersistentVolume'],
  replicationControllers: ['', 'ReplicationController'],
  leases: ['coordination.k8s.io', 'Lease'],
  deployments: ['apps', 'Deployment'],
  replicaSets: ['apps', 'ReplicaSet'],
  statefulSets: ['apps', 'StatefulSet'],
  daemonSets: ['apps', 'DaemonSet'],
  revisions: ['apps', 'ControllerRevision'],
  jobs: ['batch', 'Job'],
  cronJobs: ['batch', 'CronJob'],
  endpointSlices: ['discovery.k8s.io', 'EndpointSlice'],
  storageClasses: ['storage.k8s.io', 'StorageClass'],
  budgets: ['policy', 'PodDisruptionBudget'],
  autoscalers: ['autoscaling', 'HorizontalPodAutoscaler'],
} as const

interface KindTypes {
  pods: api.Pod
  nodes: api.Node
  namespaces: api.WorkloadObject
  services: api.Service
  endpoints: api.WorkloadObject
  claims: api.Claim
  volumes: api.Volume
  replicationControllers: api.WorkloadObject
  leases: api.Lease
  deployments: api.Deployment
  replicaSets: api.ReplicaSet
  statefulSets: api.StatefulSet
  daemonSets: api.DaemonSet
  revisions: api.ControllerRevision
  jobs: api.Job
  cronJobs: api.CronJob
  endpointSlices: api.WorkloadObject
  storageClasses: api.StorageClass
  budgets: api.DisruptionBudget
  autoscalers: api.Autoscaler
}

export type SharedKinds = { readonly [K in keyof KindTypes]: SharedObjects<KindTypes[K]> }

export interface WorkloadEnv extends SharedKinds {
  readonly context: ApiContext
  readonly registry: Registry
  readonly env: ControllerEnv
  readonly options: WorkloadOptions
  readonly events: EventSink
  /** Whether nodes and kubelets are played. */
  readonly simulates: boolean
  now(): number
  /** Writes of a controller of kube-controller-manager, by the name of its account. */
  writesOf(account: string): Writes
  /** Writes of another component. */
  writesAs(component: Component): Writes
  recorder(component: string, host?: string): EventRecorder
  /** Counts the changes of all shared objects. */
  activity(): number
  stop(): void
}

export interface Component {
  readonly user: string
  readonly groups: readonly string[]
  readonly manager: string
}

/** Resolves when all objects are read. */
export async function startWorkloadEnv(
  context: ApiContext,
  registry: Registry,
  options: WorkloadOptions,
  env: ControllerEnv,
  simulates: boolean,
): Promise<WorkloadEnv> {
  const kindOf = (group: string, kind: string): Kind => {
    const found = registry.findKind(group, kind)
    if (!found) throw new Error(`there is no kind ${kind} in ${group}`)
    return found
  }
  const names = Object.keys(KINDS) as (keyof KindTypes)[]
  const shared = Object.fromEntries(
    names.map(name => {
      const [group, kind] = KINDS[name]
      return [name, startSharedObjects(context, kindOf(group, kind), env.log)]
    }),
  ) as unknown as SharedKinds
  await Promise.all(names.map(name => shared[name].started))
  const events = createEventSink(systemObjects(context, 'event-recorder'), kindOf('', 'Event'), env.clock)
  return {
    ...shared,
    context,
    registry,
    env,
    options,
    events,
    simulates,
    now: context.now,
    writesOf: account => createWrites(systemObjects(context, account)),
    writesAs: component => createWrites(componentObjects(context, component)),
    recorder: events.recorder,
    activity: () => names.reduce((sum, name) => sum + shared[name].changes, 0),
    stop() {
      for (const name of names) shared[name].stop()
    },
  }
}
