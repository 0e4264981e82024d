// Puts the rooms together from options:
//
//   store → kinds → resources → what every cluster has → who may do what → controllers → the API → the network
//
// and takes them apart in the opposite order, so that nothing acknowledged is lost: no new requests, watches end,
// requests under way are answered, controllers stop, and in the end the store is closed.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createServerAdmission } from '../admission/plugins.js'
import { verbAdmission } from '../admission/verb-admission.js'
import type { Identity } from '../auth/authenticator.js'
import { ALL_RULES, ALWAYS_ALLOW, type Authorizer, type RuleResolver } from '../auth/authorizer.js'
import { andThen } from '../base/awaitable.js'
import { type CleanupStack, createCleanupStack } from '../base/cleanup-stack.js'
import { NO_LOGGER } from '../base/logger.js'
import { builtinKinds, kindsOfGroup } from '../builtin/builtin-kinds.js'
import { startDefinitions } from '../controllers/definitions.js'
import { serviceAddresses } from '../controllers/service-allocation.js'
import {
  startApiServices,
  startGarbageCollector,
  startNamespaceController,
  startStorageMigration,
} from '../controllers/start-controllers.js'
import type { ConvertFunction } from '../convert/function-conversion.js'
import { definitionKind } from '../crd/definition-kind.js'
import type { LimitOptions } from '../http/limits.js'
import { type ListenOptions, listen } from '../http/listener.js'
import type { Kind } from '../kinds/kind.js'
import { createRegistry, type Registry } from '../kinds/registry.js'
import { createLister } from '../objects/lister.js'
import { openStore, type StorageOptions } from '../storage/open-store.js'
import type { Store } from '../storage/store.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from '../verbs/api-context.js'
import { podActions } from '../verbs/subresources.js'
import { createWebhooks } from '../webhook/client.js'
import type { HostOverrides } from '../webhook/host-overrides.js'
import { openAccess } from './startup/access.js'
import { createApi } from './startup/api.js'
import { bootstrap, firstAddress } from './startup/bootstrap.js'
import { type RuntimeConfig, withRuntimeConfig } from './startup/runtime-config.js'
import { serviceFinder } from './startup/service-finder.js'
import type { Access } from './tls/kubeconfig.js'
import { type CertificateOptions, hostsOf, prepareTls } from './tls/tls.js'

export interface ServerOptions {
  readonly storage: StorageOptions
  /** Not served when not given. */
  readonly https?: HttpsOptions | undefined
  /** Plain http, on 127.0.0.1. */
  readonly http?: { readonly port: number } | undefined
  readonly tokens?: ReadonlyMap<string, Identity> | undefined
  /** Whether requests are let in that do not prove who sent them; they are under RBAC when nothing is said, else never. */
  readonly anonymous?: boolean | undefined
  readonly authorization?: 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny' | undefined
  readonly serviceRange?: string | undefined
  readonly runtimeConfig?: RuntimeConfig | undefined
  /** Admission plugins that are not asked, by kube-apiserver's names. */
  readonly disabledPlugins?: readonly string[] | undefined
  /** Where webhooks are found whose names no DNS knows, such as `converter.default.svc`. */
  readonly webhookHosts?: HostOverrides | undefined
  /** By the name of a definition: functions that convert its objects, whatever it says itself. */
  readonly conversions?: Readonly<Record<string, ConvertFunction>> | undefined
  readonly garbageCollection?: boolean | undefined
  readonly namespaceController?: boolean | undefined
  readonly limits?: Partial<LimitOptions> | undefined
  readonly minRequestTimeoutMs?: number | undefined
  /** Hears of faults of our own; they are printed when nothing is said. */
  readonly log?: ((message: string, error: unknown) => void) | undefined
  /** Hears of what an administrator may want to know, such as who still uses a deprecated version; nobody, when nothing is said. */
  readonly notice?: ((text: string) => void) | undefined
}

export interface HttpsOptions {
  readonly address: string
  /** 0 takes any free one. */
  readonly port: number
  readonly certificates: CertificateOptions
}

export interface Server {
  /** https, or plain http where that is all that is served. */
  readonly url: string
  readonly httpUrl: string | undefined
  /** How an administrator gets in, unless by a token of the options. */
  readonly access: Access
  stop(): Promise<void>
}

export const DEFAULT_SERVICE_RANGE = '10.0.0.0/24'
const DEFAULT_PORT = 6443
/** While the last requests are answered, watches are ended this often. */
const DRAIN_MS = 20

/** Rejects when something cannot be had, such as the data folder or the port; nothing is left running then. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { serviceRange = DEFAULT_SERVICE_RANGE, https, http, log = printError } = options
  const stack = createCleanupStack()
  try {
    const store = await openStore(options.storage)
    stack.push(() => store.close())
    const tls = https && (await prepareTls(https.certificates, hostsOf(https.address, firstAddress(serviceRange))))
    const registry = registryOf(options)
    const addressKinds = {
      services: kindOf(registry, '', 'Service'),
      addresses: kindOf(registry, 'networking.k8s.io', 'IPAddress'),
    }
    const addresses = serviceAddresses(store, addressKinds, serviceRange)
    registry.put(addresses.kind)
    // Until the stored roles are known, only the server itself writes.
    let authorizer = ALWAYS_ALLOW
    let rules = ALL_RULES
    const context = contextOf(
      store,
      registry,
      options,
      () => authorizer,
      () => rules,
    )
    stack.push(() => context.close())
    await addresses.start(context)
    await bootstrap(context, registry, { serviceRange, port: https?.port || DEFAULT_PORT })
    const access = await openAccess(store, context, registry, {
      authorization: options.authorization ?? 'RBAC',
      tokens: options.tokens ?? new Map(),
    })
    stack.push(() => access.stop())
    authorizer = access.authorizer
    rules = access.rules
    const webhooks = createWebhooks({ hosts: options.webhookHosts, findService: serviceFinder(context, registry) })
    stack.push(() => webhooks.close())
    const definitionsKind = kindOf(registry, DEFINITIONS.group, DEFINITIONS.kind)
    const converters = { webhooks, functions: options.conversions }
    const definitions = await startDefinitions(context, registry, definitionsKind, converters)
    stack.push(() => definitions.stop())

    let isStopping = false
    let address = ''
    const api = createApi({
      registry,
      context,
      definitions,
      access,
      virtualResources: [
        ...access.virtualResources,
        ...podActions(context, {
          pods: kindOf(registry, '', 'Pod'),
          budgets: kindOf(registry, 'policy', 'PodDisruptionBudget'),
        }),
      ],
      // Where everybody may do everything, a request that proves nothing must not even get in.
      anonymous: options.authorization !== 'AlwaysAllow' && (options.anonymous ?? true),
      limits: options.limits,
      minRequestTimeoutMs: options.minRequestTimeoutMs,
      revision: () => store.revision(),
      storedBytes: () => storedBytes(options.storage),
      isStopping: () => isStopping,
      serverAddress: () => address,
      log: { ...NO_LOGGER, error: (message, fields) => log(message, fields?.['error']) },
      notice: options.notice ?? (() => {}),
    })

    const open = async (where: ListenOptions): Promise<string> => {
      const listener = await listen(where, api.handle)
      stack.push(() => listener.close())
      return listener.url
    }
    const httpUrl = http && (await open({ address: '127.0.0.1', port: http.port }))
    const httpsUrl = https && (await open({ address: https.address, port: https.port, tls: tls!.options }))
    const url = httpsUrl ?? httpUrl
    if (url === undefined) throw new Error('neither https nor http is to be served')
    address = new URL(reachable(url)).host
    // What they have to read may be much, and nobody waits for it.
    await startControllers(store, context, registry, options, stack)
    const answered = access.virtualResources.map(({ apiVersion }) => apiVersion)
    const apiServices = kindOf(registry, 'apiregistration.k8s.io', 'APIService')
    const services = await startApiServices(context, registry, apiServices, answered)
    stack.push(() => services.stop())

    return {
      url,
      httpUrl,
      access: { server: reachable(url), ...(httpsUrl && { ca: tls!.ca, client: tls!.admin }) },
      async stop() {
        isStopping = true
        api.endWatches()
        // One whose request was under way may begin a moment later.
        const again = setInterval(() => api.endWatches(), DRAIN_MS)
        try {
          await stack.unwind()
        } finally {
          clearInterval(again)
        }
      },
    }
  } catch (error) {
    // Why it could not start is what matters, not what went wrong after that.
    await stack.unwind().catch(() => {})
    throw error
  }
}

const DEFINITIONS = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }

function registryOf({ runtimeConfig = {} }: ServerOptions): Registry {
  const registry = createRegistry()
  const definitions = kindsOfGroup(builtinTypes(), DEFINITIONS.group).map(definitionKind)
  for (const kind of [...builtinKinds(builtinTypes()), ...definitions]) {
    registry.put(withRuntimeConfig(kind, runtimeConfig))
  }
  return registry
}

function kindOf(registry: Registry, group: string, name: string): Kind {
  const kind = registry.findKind(group, name)
  if (!kind) throw new Error(`the kind ${name} is missing from the registry`)
  return kind
}

function contextOf(
  store: Store,
  registry: Registry,
  { disabledPlugins = [] }: ServerOptions,
  authorizer: () => Authorizer,
  rules: () => RuleResolver,
): ApiContext {
  const namespaces = kindOf(registry, '', 'Namespace')
  const admission = createServerAdmission(
    {
      objects: createLister(registry, kind => context.objectStore(kind)),
      // Whether a namespace is being deleted is kept beside its entry, because every create reads it.
      findNamespace: name => andThen(context.objectStore(namespaces).get('', name), entry => entry?.attributes.data),
      authorizer,
      rules,
    },
    { disabled: disabledPlugins },
  )
  const context = createApiContext({ store, admission: verbAdmission(admission, authorizer) })
  return context
}

async function startControllers(
  store: Store,
  context: ApiContext,
  registry: Registry,
  { garbageCollection = true, namespaceController = true }: ServerOptions,
  stack: CleanupStack,
): Promise<void> {
  if (namespaceController) {
    const controller = await startNamespaceController(context, registry, kindOf(registry, '', 'Namespace'))
    stack.push(() => controller.stop())
  }
  if (garbageCollection) {
    const controller = startGarbageCollector(store, context, registry)
    stack.push(() => controller.stop())
  }
  const migrations = kindOf(registry, 'storagemigration.k8s.io', 'StorageVersionMigration')
  if (migrations.versions.some(({ served }) => served)) {
    const definitions = kindOf(registry, DEFINITIONS.group, DEFINITIONS.kind)
    const controller = await startStorageMigration(context, registry, { migrations, definitions })
    stack.push(() => controller.stop())
  }
}

/** How much the files of the embedded store take. */
async function storedBytes(storage: StorageOptions): Promise<number | undefined> {
  if (storage.kind !== 'lmdb') return undefined
  const names = await readdir(storage.directory)
  const sizes = await Promise.all(names.map(async name => (await stat(join(storage.directory, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** An address that means all of them is none that a client could ask. */
const reachable = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

function printError(message: string, error: unknown): void {
  console.error(`binnacle: ${message}:`, error)
}
