// The controllers of this server, as they are registered in the runner. They are started without waiting for them: their
// first read of the store must not delay readiness.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isAdmissionPluginOn } from '../../admission/plugins.js'
import type { Definitions } from '../../controllers/definitions.js'
import {
  type ControllerEnv,
  type ControllerRunner,
  type ElectionTimes,
  type RegisteredController,
  runControllers,
  startApiServices,
  startGarbageCollector,
  startLeaderElection,
  startNamespaceController,
  startServiceAccounts,
  startStorageMigration,
} from '../../controllers/start-controllers.js'
import type { Registry } from '../../kinds/registry.js'
import type { Store } from '../../storage/store.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { AdmissionOptions } from '../options/admission.js'
import type { ApiOptions } from '../options/api.js'
import type { ServingOptions } from '../options/serving.js'
import { DEFINITIONS, requireKind } from './kinds.js'
import { advertisedAddress, publishEndpoints } from './own-endpoints.js'

export interface ControllerParts {
  readonly store: Store
  readonly context: ApiContext
  /** Without admission: no webhook may keep the replicas from electing a leader. */
  readonly systemContext: ApiContext
  readonly registry: Registry
  readonly definitions: Definitions
  readonly api: ApiOptions
  readonly admission: AdmissionOptions
  readonly serving: ServingOptions
  readonly leaderElection: ElectionTimes | undefined
  /** Group versions that are served without a kind in the registry. */
  readonly virtualVersions: readonly string[]
  readonly env: ControllerEnv
}

export interface Controllers {
  /** Starts them; `httpsUrl` is where https is served. */
  start(httpsUrl: string | undefined): void
  /** Resolves when all have stopped, those included that were still starting. */
  stop(): Promise<void>
}

/** The Lease in kube-system whose holder runs the controllers. */
const LEASE = 'binnacle-controllers'

export function createControllers(parts: ControllerParts): Controllers {
  const { store, systemContext, registry, env, leaderElection: times } = parts
  let runner: ControllerRunner | undefined
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
      const controllers = registeredControllers(parts, httpsUrl)
      runner = store.embedded
        ? runControllers(controllers, env)
        : runControllers(controllers, env, elected => startLeaderElection(candidate, elected))
    },
    stop: async () => runner?.stop(),
  }
}

function registeredControllers(parts: ControllerParts, httpsUrl: string | undefined): RegisteredController[] {
  const { store, context, registry, definitions, api, admission, env } = parts
  const namespaces = requireKind(registry, '', 'Namespace')
  const accounts = requireKind(registry, '', 'ServiceAccount')
  const migrations = requireKind(registry, 'storagemigration.k8s.io', 'StorageVersionMigration')
  const definitionKind = requireKind(registry, DEFINITIONS.group, DEFINITIONS.kind)
  const services = requireKind(registry, 'apiregistration.k8s.io', 'APIService')
  const registered: (RegisteredController & { readonly isOn?: boolean })[] = [
    {
      name: 'namespace',
      isOn: api.namespaceController,
      start: () => startNamespaceController(context, registry, namespaces, env),
    },
    {
      name: 'service-accounts',
      // The plugin refuses pods in namespaces without the account that this controller creates.
      isOn: isAdmissionPluginOn('ServiceAccount', admission),
      start: () => startServiceAccounts(context, { namespaces, accounts }, env),
    },
    {
      name: 'garbage-collector',
      isOn: api.garbageCollection,
      start: () => startGarbageCollector(store, context, registry, env),
    },
    {
      name: 'storage-migration',
      isOn: migrations.versions.some(({ served }) => served),
      start: () => startStorageMigration(context, registry, { migrations, definitions: definitionKind }, env),
    },
    {
      name: 'apiservices',
      start: () => startApiServices(context, registry, services, parts.virtualVersions, env),
    },
    { name: 'crd-finalizer', start: () => definitions.startCleanup() },
    {
      name: 'endpoints',
      onEveryReplica: true,
      isOn: httpsUrl !== undefined,
      start: () => publishOwnEndpoints(parts, Number(new URL(httpsUrl!).port)),
    },
  ]
  return registered.filter(({ isOn }) => isOn !== false)
}

async function publishOwnEndpoints({ context, registry, serving }: ControllerParts, port: number): Promise<void> {
  const address = advertisedAddress(serving)
  if (address === undefined) return
  const kinds = {
    endpoints: requireKind(registry, '', 'Endpoints'),
    endpointSlices: requireKind(registry, 'discovery.k8s.io', 'EndpointSlice'),
  }
  await publishEndpoints(context, kinds, address, port)
}
