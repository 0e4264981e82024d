// The controllers of this server, as they are registered in the runner. They are started without waiting for them: their
// first read of the store must not delay readiness.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type AvailabilityParts, startAvailability } from '../../aggregation/availability.js'
import { SYSTEM_CLOCK } from '../../base/clock.js'
import type { Definitions } from '../../controllers/definitions.js'
import { repairTimes, type ServiceAddresses, startDefaultServiceCidr } from '../../controllers/service-allocation.js'
import {
  type Controller,
  type ControllerRunner,
  countedServers,
  DEFAULT_ENDPOINT_LEASE_TIMES,
  type ElectionTimes,
  type EndpointReconciler,
  hasTtl,
  type KeptObject,
  leasedServers,
  publishEndpoints,
  type RegisteredController,
  runControllers,
  startApiServices,
  startCandidateCollector,
  startCoordinatedElection,
  startEndpointReconciler,
  startEventExpiry,
  startFlowBootstrap,
  startFlowSchemaStatus,
  startIdentityLease,
  startIdentityLeaseCollector,
  startKeptObjects,
  startLeaderElection,
} from '../../controllers/start-controllers.js'
import type { Kind } from '../../kinds/kind.js'
import { createLister } from '../../objects/lister.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { ServingOptions } from '../options/serving.js'
import type { FrontProxy } from '../tls/front-proxy.js'
import { type FrontProxyTrustParts, startFrontProxyTrust } from './access/front-proxy-trust.js'
import { flowKindsOf } from './flowcontrol/flow-control.js'
import { requireKind } from './kinds.js'
import { isServed, type KubeControllerParts, kubeControllers } from './kube-controllers.js'
import { type AuthenticationInfo, publishConfigMaps } from './system-objects/own-config-maps.js'
import { advertisedAddress } from './system-objects/own-endpoints.js'

export interface ControllerParts extends KubeControllerParts {
  /** Without admission: no webhook may keep the replicas from electing a leader. */
  readonly systemContext: ApiContext
  readonly definitions: Definitions
  readonly addresses: ServiceAddresses
  /** The ranges of the ServiceCIDR `kubernetes`. */
  readonly defaultCidrs: readonly string[]
  /** Objects that are created again when they are deleted. */
  readonly kept: readonly KeptObject[]
  readonly leaderElection: ElectionTimes | undefined
  readonly coordination: ElectionTimes | undefined
  /** How long a request may take. */
  readonly requestTimeoutMs: number
  /** Whether holders of Leases are chosen from LeaseCandidates, which is a feature gate. */
  readonly electsLeaders: boolean
  /** Whether priority and fairness is switched on. */
  readonly hasFlowControl: boolean
  readonly serving: ServingOptions
  /** As it is now: certificates are read again. */
  readonly authentication: () => AuthenticationInfo
  /** Absent where flags name the certificates. */
  readonly frontProxy: (() => Promise<FrontProxy>) | undefined
  /** Group versions that are served without a kind in the registry. */
  readonly virtualVersions: readonly string[]
  /** The controllers of workloads, if any of them run. */
  readonly workloads: RegisteredController | undefined
}

export interface Controllers {
  /** Starts them; `httpsUrl` is where https is served. */
  start(httpsUrl: string | undefined): void
  /** Publishes the authorities of clients again, which have changed. */
  publishAuthentication(): void
  /** Removes the address of this server from the Endpoints of `kubernetes`, which stays where this is the only server. */
  withdrawEndpoints(): Promise<void>
  /** Resolves when all have stopped, those included that were still starting. */
  stop(): Promise<void>
}

/** The Lease in kube-system whose holder runs the controllers. */
const LEASE = 'binnacle-controllers'
/** The one whose holder chooses the holders of other Leases. */
const COORDINATION_LEASE = 'leader-election-controller'

export function createControllers(parts: ControllerParts): Controllers {
  const { store, systemContext, registry, env, leaderElection: times } = parts
  const runners: ControllerRunner[] = []
  let endpoints: EndpointReconciler | undefined
  const candidate = {
    context: systemContext,
    leases: requireKind(registry, 'coordination.k8s.io', 'Lease'),
    name: LEASE,
    identity: `${hostname()}_${randomUUID()}`,
    times,
    env,
  }
  return {
    start(httpsUrl) {
      const controllers = registeredControllers(parts, httpsUrl, started => (endpoints = started))
      runners.push(
        store.embedded
          ? runControllers(controllers, env)
          : runControllers(controllers, env, elected => startLeaderElection(candidate, elected)),
      )
      const coordinators = parts.electsLeaders ? coordinatedElection(parts) : []
      if (coordinators.length === 0) return
      const coordinator = { ...candidate, name: COORDINATION_LEASE, times: parts.coordination }
      runners.push(runControllers(coordinators, env, elected => startLeaderElection(coordinator, elected)))
    },
    publishAuthentication() {
      publishOwnConfigMaps(parts).catch((error: unknown) => {
        env.log.error('the authorities of clients cannot be published', { error })
      })
    },
    withdrawEndpoints: async () => endpoints?.withdraw(),
    stop: async () => void (await Promise.all(runners.map(runner => runner.stop()))),
  }
}

function registeredControllers(
  parts: ControllerParts,
  httpsUrl: string | undefined,
  onEndpoints: (started: EndpointReconciler) => void,
): RegisteredController[] {
  const { store, context, systemContext, registry, definitions, addresses, frontProxy, env } = parts
  const { eventTtlMs, repair: releaseAfter = repairTimes(parts.requestTimeoutMs) } = parts.options
  const services = requireKind(registry, 'apiregistration.k8s.io', 'APIService')
  const flowKinds = flowKindsOf(registry)
  return [
    ...kubeControllers(parts),
    ...(parts.workloads ? [parts.workloads] : []),
    {
      name: 'apiservices',
      start: () =>
        startApiServices(context, registry, services, parts.virtualVersions, () => parts.definitions.isComplete, env),
    },
    { name: 'apiservice-availability', start: () => startAvailability(availabilityParts(parts, services)) },
    { name: 'flow-control-bootstrap', start: () => startFlowBootstrap(systemContext, flowKinds, env) },
    ...(parts.hasFlowControl
      ? [{ name: 'flow-schema-status', start: () => startFlowSchemaStatus(systemContext, flowKinds, env) }]
      : []),
    ...(parts.options.identityLease ? identityLeases(parts) : []),
    { name: 'kubernetes-service', start: () => startKeptObjects(systemContext, parts.kept, env) },
    {
      name: 'default-service-cidr',
      start: () => {
        const serviceCidrs = requireKind(registry, 'networking.k8s.io', 'ServiceCIDR')
        return startDefaultServiceCidr(systemContext, serviceCidrs, parts.defaultCidrs, env)
      },
    },
    // A process that is alone repairs at its start.
    ...(store.embedded
      ? []
      : [
          { name: 'service-repair', start: () => addresses.startRepair(env, releaseAfter) },
          { name: 'service-address-repair', start: () => addresses.startServiceRepair(env) },
        ]),
    ...(eventTtlMs === 0
      ? []
      : [
          {
            name: 'event-expiry',
            start: () => startEventExpiry(context, requireKind(registry, '', 'Event'), eventTtlMs, env),
          },
        ]),
    {
      name: 'config-maps',
      onEveryReplica: true,
      start: () => publishOwnConfigMaps(parts),
    },
    ...(frontProxy
      ? [{ name: 'front-proxy-trust', start: () => startFrontProxyTrust(trustParts(parts, frontProxy)) }]
      : []),
    { name: 'crd-finalizer', start: () => definitions.startCleanup() },
    ...(httpsUrl === undefined
      ? []
      : [
          {
            name: 'endpoints',
            onEveryReplica: true,
            start: () => startOwnEndpoints(parts, Number(new URL(httpsUrl).port), onEndpoints),
          },
        ]),
  ]
}

const publishOwnConfigMaps = ({ systemContext, registry, authentication }: ControllerParts): Promise<void> =>
  publishConfigMaps(systemContext, requireKind(registry, '', 'ConfigMap'), authentication())

/** The Lease of this server, and the clean-up of those of others. */
function identityLeases({ systemContext, registry, env }: ControllerParts): RegisteredController[] {
  const leases = requireKind(registry, 'coordination.k8s.io', 'Lease')
  return [
    {
      name: 'kube-apiserver-identity-lease',
      onEveryReplica: true,
      start: () => startIdentityLease(systemContext, leases, hostname(), env),
    },
    {
      name: 'kube-apiserver-identity-lease-garbage-collector',
      start: () => startIdentityLeaseCollector(systemContext, leases, env),
    },
  ]
}

/** LeaseCandidates are there only where --runtime-config serves them. */
function coordinatedElection({ systemContext, registry, env }: ControllerParts): RegisteredController[] {
  const candidates = requireKind(registry, 'coordination.k8s.io', 'LeaseCandidate')
  if (!isServed(candidates)) return []
  const leases = requireKind(registry, 'coordination.k8s.io', 'Lease')
  return [
    {
      name: 'leader-election-controller',
      start: () => startCoordinatedElection(systemContext, { leases, candidates }, env),
    },
    {
      name: 'lease-candidate-garbage-collector',
      start: () => startCandidateCollector(systemContext, candidates, env),
    },
  ]
}

const availabilityParts = (parts: ControllerParts, apiServices: Kind): AvailabilityParts => ({
  context: parts.systemContext,
  kinds: {
    apiServices,
    services: requireKind(parts.registry, '', 'Service'),
    endpointSlices: requireKind(parts.registry, 'discovery.k8s.io', 'EndpointSlice'),
  },
  lister: createLister(parts.registry, parts.systemContext),
  services: parts.aggregator.services,
  transport: parts.aggregator.transport,
  env: parts.env,
})

const trustParts = (
  { systemContext, registry, aggregator, env }: ControllerParts,
  frontProxy: () => Promise<FrontProxy>,
): FrontProxyTrustParts => ({
  context: systemContext,
  configMaps: requireKind(registry, '', 'ConfigMap'),
  services: aggregator.services,
  frontProxy,
  namesUids: aggregator.transport.namesUids,
  env,
})

async function startOwnEndpoints(
  { store, context, registry, serving, env }: ControllerParts,
  port: number,
  onStart: (started: EndpointReconciler) => void,
): Promise<Controller | undefined> {
  const address = advertisedAddress(serving)
  if (address === undefined || serving.endpointReconciler === 'none') return undefined
  const own = { address, port }
  const kinds = {
    endpoints: requireKind(registry, '', 'Endpoints'),
    endpointSlices: requireKind(registry, 'discovery.k8s.io', 'EndpointSlice'),
  }
  if (!hasTtl(store)) {
    await publishEndpoints(context, kinds, async () => [address], own)
    return undefined
  }
  const { ttlSeconds, renewMs } = serving.endpointLeaseTimes ?? DEFAULT_ENDPOINT_LEASE_TIMES
  const servers =
    serving.endpointReconciler === 'master-count'
      ? countedServers(address, serving.serverCount ?? 1)
      : leasedServers(store, address, ttlSeconds)
  // The time in etcd passes as that of the system, also when the server's clock is stopped.
  const reconciler = startEndpointReconciler({ context, kinds, servers, own, renewMs }, { ...env, clock: SYSTEM_CLOCK })
  onStart(reconciler)
  return reconciler
}
