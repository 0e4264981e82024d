// Starts the controllers without waiting for them: their first read of the store must not delay readiness.
import { isAdmissionPluginOn } from '../../admission/plugins.js'
import {
  type Controller,
  type ControllerEnv,
  startApiServices,
  startGarbageCollector,
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
  readonly registry: Registry
  readonly api: ApiOptions
  readonly admission: AdmissionOptions
  readonly serving: ServingOptions
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

export function createControllers(parts: ControllerParts): Controllers {
  const { env } = parts
  const starting: Promise<Controller | undefined>[] = []
  const start: Start = (name, run) => {
    const started = Promise.resolve()
      .then(run)
      .then(controller => controller ?? undefined)
      .catch((error: unknown) => {
        env.log.error('a controller did not start', { controller: name, error })
        return undefined
      })
    starting.push(started)
  }
  return {
    start: httpsUrl => startAll(parts, httpsUrl, start),
    async stop() {
      for (const controller of await Promise.all(starting)) controller?.stop()
    },
  }
}

type Start = (name: string, run: () => Controller | Promise<Controller | void>) => void

function startAll(parts: ControllerParts, httpsUrl: string | undefined, start: Start): void {
  const { store, context, registry, api, env } = parts
  if (api.namespaceController) {
    start('namespace', () => startNamespaceController(context, registry, requireKind(registry, '', 'Namespace'), env))
  }
  // The plugin refuses pods in namespaces without the account that this controller creates.
  if (isAdmissionPluginOn('ServiceAccount', parts.admission)) {
    const kinds = {
      namespaces: requireKind(registry, '', 'Namespace'),
      accounts: requireKind(registry, '', 'ServiceAccount'),
    }
    start('service-accounts', () => startServiceAccounts(context, kinds, env))
  }
  if (api.garbageCollection) start('garbage-collector', () => startGarbageCollector(store, context, registry, env))
  const migrations = requireKind(registry, 'storagemigration.k8s.io', 'StorageVersionMigration')
  if (migrations.versions.some(({ served }) => served)) {
    const definitions = requireKind(registry, DEFINITIONS.group, DEFINITIONS.kind)
    start('storage-migration', () => startStorageMigration(context, registry, { migrations, definitions }, env))
  }
  const services = requireKind(registry, 'apiregistration.k8s.io', 'APIService')
  start('apiservices', () => startApiServices(context, registry, services, parts.virtualVersions, env))
  if (httpsUrl !== undefined) start('endpoints', () => publishOwnEndpoints(parts, Number(new URL(httpsUrl).port)))
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
