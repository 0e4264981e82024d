// Puts the rooms together from options:
//
//   store → kinds → resources → what every cluster has → who may do what → controllers → the API → the network
//
// and takes them apart in the opposite order, so that nothing acknowledged is lost: no new requests, watches end,
// requests under way are answered, controllers stop, and in the end the store is closed.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServerAdmission } from '../admission/plugins.js'
import { ALL_RULES, ALWAYS_ALLOW, type Authorizer, permitBy, type RuleResolver } from '../auth/authorizer.js'
import { KEYS_PATH } from '../auth/tokens.js'
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
import { definitionKind } from '../crd/definition-kind.js'
import { type ListenOptions, listen } from '../http/listener.js'
import type { Kind } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { createRegistry, type Registry } from '../kinds/registry.js'
import { createLister } from '../objects/lister.js'
import { RuleCompiler } from '../schema/rules.js'
import { openStore, type StorageOptions } from '../storage/open-store.js'
import type { Store } from '../storage/store.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from '../verbs/api-context.js'
import { podActions } from '../verbs/subresources.js'
import { createWebhooks } from '../webhook/client.js'
import { allowsEverything } from './options/authorization.js'
import type { ServerOptions } from './options/server-options.js'
import type { ServingOptions } from './options/serving.js'
import { openAccess } from './startup/access.js'
import { checkAdmissionPlugins } from './startup/admission-plugins.js'
import { createApi } from './startup/api.js'
import { createAuthenticate } from './startup/authentication.js'
import { bootstrap, firstAddress } from './startup/bootstrap.js'
import { advertisedAddress, publishEndpoints } from './startup/own-endpoints.js'
import { checkRuntimeConfig, withRuntimeConfig } from './startup/runtime-config.js'
import { serviceFinder } from './startup/service-finder.js'
import { withStrictTransportSecurity } from './startup/strict-transport-security.js'
import type { Access } from './tls/kubeconfig.js'
import { hostsOf, prepareTls } from './tls/tls.js'

export interface Server {
  /** https, or plain http where that is all that is served. */
  readonly url: string
  readonly httpUrl: string | undefined
  /** How an administrator gets in, unless by a token of the options. */
  readonly access: Access
  stop(): Promise<void>
}

const DEFAULT_PORT = 6443
/** While the last requests are answered, watches are ended this often. */
const DRAIN_MS = 20

/** Rejects when something cannot be had, such as the data folder or the port; nothing is left running then. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { authentication, authorization, limits, serving } = options
  const { serviceRange } = options.api
  const { https, http } = serving
  const log = printError
  const stack = createCleanupStack()
  try {
    checkAdmissionPlugins(options.admission)
    const ruleCompiler = new RuleCompiler()
    const registry = registryOf(options, ruleCompiler)
    const store = await openStore(options.storage)
    stack.push(() => store.close())
    const authorities = { clientCa: authentication.clientCa, proxyCa: authentication.requestHeader?.ca }
    const tls = https && (await prepareTls(https, authorities, hostsOf(https.address, firstAddress(serviceRange))))
    const addressKinds = {
      services: kindOf(registry, '', 'Service'),
      addresses: kindOf(registry, 'networking.k8s.io', 'IPAddress'),
    }
    const addresses = serviceAddresses(store, addressKinds, serviceRange)
    registry.put(addresses.kind)
    // Until roles are known, nobody but the server itself writes.
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
    const access = await openAccess(store, context, registry, { authentication, authorization })
    stack.push(() => access.stop())
    authorizer = access.authorizer
    rules = access.rules
    const webhooks = createWebhooks({ hosts: options.api.webhookHosts, findService: serviceFinder(context, registry) })
    stack.push(() => webhooks.close())
    const definitionsKind = kindOf(registry, DEFINITIONS.group, DEFINITIONS.kind)
    const converters = { webhooks, functions: options.api.conversions, ruleCompiler }
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
      authenticate: createAuthenticate({
        tokens: access.tokens,
        audiences: access.authority.audiences,
        // With AlwaysAllow, an anonymous request could do everything.
        anonymous: authentication.anonymous && !allowsEverything(authorization),
        requestHeader: authentication.requestHeader,
        clientCa: tls?.clientCa ?? '',
      }),
      limits: limits.requests,
      minRequestTimeoutMs: limits.minRequestTimeoutMs,
      revision: () => store.revision(),
      storedBytes: () => storedBytes(options.storage),
      isStopping: () => isStopping,
      serverAddress: () => address,
      jwksUri: () =>
        authentication.serviceAccounts.jwksUri ?? `https://${externalAddress(serving, address)}${KEYS_PATH}`,
      log: { ...NO_LOGGER, error: (message, fields) => log(message, fields?.['error']) },
      notice: () => {},
    })

    const handle = withStrictTransportSecurity(api.handle, serving.strictTransportSecurity)
    const open = async (where: ListenOptions): Promise<string> => {
      const listener = await listen(where, handle)
      stack.push(() => listener.close())
      return listener.url
    }
    const httpUrl = http && (await open({ address: '127.0.0.1', port: http.port }))
    const httpsUrl = https && (await open({ address: https.address, port: https.port, tls: tls!.options }))
    const url = httpsUrl ?? httpUrl
    if (url === undefined) throw new Error('neither https nor http is to be served')
    address = new URL(reachable(url)).host
    const advertised = advertisedAddress(serving)
    if (httpsUrl !== undefined && advertised !== undefined) {
      const kinds = {
        endpoints: kindOf(registry, '', 'Endpoints'),
        endpointSlices: kindOf(registry, 'discovery.k8s.io', 'EndpointSlice'),
      }
      await publishEndpoints(context, kinds, advertised, Number(new URL(httpsUrl).port))
    }
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
        if (serving.shutdownDelayMs) await sleep(serving.shutdownDelayMs)
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

function registryOf({ api: { runtimeConfig } }: ServerOptions, ruleCompiler: RuleCompiler): Registry {
  const registry = createRegistry()
  const definitions = kindsOfGroup(builtinTypes(), DEFINITIONS.group).map(kind => definitionKind(kind, ruleCompiler))
  const kinds = [...builtinKinds(builtinTypes()), ...definitions]
  checkRuntimeConfig(
    runtimeConfig,
    new Set(kinds.flatMap(kind => kind.versions.map(({ name }) => apiVersionOf(kind, name)))),
  )
  for (const kind of kinds) {
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
  options: ServerOptions,
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
    options.admission,
  )
  const context = createApiContext({ store, admission, permit: permitBy(authorizer) })
  return context
}

async function startControllers(
  store: Store,
  context: ApiContext,
  registry: Registry,
  { api: { garbageCollection, namespaceController } }: ServerOptions,
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

/** `HOST:PORT` in URLs to this server. */
const externalAddress = ({ externalHostname }: ServingOptions, address: string): string =>
  externalHostname === undefined ? address : `${externalHostname}:${address.split(':').at(-1)}`

/** An address that means all of them is none that a client could ask. */
const reachable = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

function printError(message: string, error: unknown): void {
  console.error(`binnacle: ${message}:`, error)
}
