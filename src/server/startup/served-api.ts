// The handler of a server with everything around it: health, the console, the pages of the component, resources that are not
// stored.

import { KEYS_PATH } from '../../auth/tokens.js'
import { KUBERNETES_VERSION } from '../../base/kubernetes-version.js'
import { packageVersion } from '../../base/package-version.js'
import { type Console, createConsole } from '../../console/console.js'
import type { Exchange } from '../../http/exchange.js'
import type { ApiHandler } from '../../http/handler.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import type { UnstoredResource } from '../../request/connect-resource.js'
import { HISTORY_MS } from '../../storage/open-store.js'
import { connectSubresources, type MayCreate, podSubresources } from '../../verbs/subresources.js'
import { createHealthMetrics } from '../observability/health-metrics.js'
import type { ServerOptions } from '../options/server-options.js'
import { anonymousPaths, createAuthenticate } from './access/authentication.js'
import { type ClientCertificates, createClientCertificates } from './access/client-certificates.js'
import { createApi } from './api.js'
import { componentPages } from './component-pages.js'
import { componentStatuses } from './component-statuses.js'
import type { Foundation, ServerEnv } from './foundation.js'
import { liveChecks, type ServerState } from './health-checks.js'
import { requireKind } from './kinds.js'
import { withStrictTransportSecurity } from './listeners/strict-transport-security.js'
import type { RequestParts } from './request-parts.js'

/** What changes while a server runs. */
export interface RunningState {
  isStopping: boolean
  /** `HOST:PORT`, known once the server listens; requests cannot come before that. */
  address: string
}

export interface ServedApi {
  readonly api: ApiHandler
  readonly clientCertificates: ClientCertificates
  handle(exchange: Exchange): void
}

export function createServedApi(
  options: ServerOptions,
  foundation: Foundation,
  parts: RequestParts,
  running: RunningState,
  env: ServerEnv,
): ServedApi {
  const { authentication, authorization, hooks, limits, serving } = options
  const { featureGates } = options.api
  const { registry, store, tls } = foundation
  const { access } = parts
  const { log, metrics, clock } = env
  const health: ServerState = {
    checkStore: () => store.check(),
    checkOtherStores: store.checkOthers,
    isStopping: () => running.isStopping,
    skippedSteps: isGateOn(featureGates, 'WatchCacheInitializationPostStartHook')
      ? undefined
      : new Set(['storage-readiness']),
    encryptionChecks: foundation.encryption?.checks ?? {},
    isInSync: parts.isInSync,
  }
  const components = requireKind(registry, '', 'ComponentStatus')
  registry.put({ ...components, computed: componentStatuses(health.checkStore) })
  const console = consoleOf(options, foundation, parts, { health, api: () => api, env })
  const clientCertificates = createClientCertificates(
    { clientCa: tls?.clientCa ?? '', proxyCa: authentication.requestHeader?.ca ?? '' },
    authentication.requestHeader?.allowedNames,
  )
  const api = createApi({
    ...parts,
    ...health,
    registry,
    virtualResources: [...access.virtualResources, ...subresources(foundation, parts, featureGates)],
    authenticate: createAuthenticate({
      tokens: access.tokens,
      audiences: access.authority.audiences,
      anonymous: anonymousPaths(authentication, authorization),
      requestHeader: authentication.requestHeader,
      certificates: clientCertificates,
      ignoresCertificateUid: !isGateOn(featureGates, 'AllowParsingUserUIDFromCertAuth'),
      ofSession: console?.authenticate,
    }),
    openApiEnums: isGateOn(featureGates, 'OpenAPIEnums'),
    storageHashes: isGateOn(featureGates, 'StorageVersionHash'),
    constrainedImpersonation: isGateOn(featureGates, 'ConstrainedImpersonation'),
    cbor: isGateOn(featureGates, 'CBORServingAndStorage'),
    version: options.api.versions,
    tracing: env.tracing,
    limits,
    verbosity: env.verbosity,
    hooks,
    pages: componentPages({
      gates: featureGates,
      version: options.api.versions,
      flags: options.flags ?? {},
      startedAt: clock.now(),
      now: clock.now,
    }),
    consolePaths: console?.paths,
    observe: console?.observe,
    serverAddress: () => running.address,
    jwksUri: () => authentication.serviceAccounts.jwksUri ?? `https://${externalAddress(options, running)}${KEYS_PATH}`,
    log,
    metrics,
    healthMetrics: createHealthMetrics(options.metrics),
  })
  const handle = withStrictTransportSecurity(console?.before(api.handle) ?? api.handle, serving.strictTransportSecurity)
  return { api, clientCertificates, handle }
}

/** The address by which clients elsewhere reach the server. */
const externalAddress = ({ serving: { externalHostname } }: ServerOptions, { address }: RunningState): string =>
  externalHostname === undefined ? address : `${externalHostname}:${address.split(':').at(-1)}`

interface ConsoleSurroundings {
  readonly health: ServerState
  api(): ApiHandler
  readonly env: ServerEnv
}

function consoleOf(
  { console, hooks, storage }: ServerOptions,
  { registry }: Foundation,
  { access }: RequestParts,
  { health, api, env }: ConsoleSurroundings,
): Console | undefined {
  if (!console) return undefined
  return createConsole({
    ...console,
    tokens: access.tokens,
    audiences: access.authority.audiences,
    about: {
      version: KUBERNETES_VERSION,
      binnacle: packageVersion(),
      testing: hooks?.paths?.has('/binnacle/testing/*') ?? false,
    },
    registry,
    authorizer: access.authorizer,
    metrics: env.metrics,
    storage: { kind: storage.kind, historySeconds: (storage.historyMs ?? HISTORY_MS) / 1000 },
    checks: () => liveChecks(health),
    api,
    log: env.log,
  })
}

/** Whether a connection that is opened by a GET needs the right to create. */
const WEBSOCKET_CREATE = 'AuthorizePodWebsocketUpgradeCreatePermission'
const ALLOWED = { allowed: true, reason: '' }

function subresources(
  { registry }: Foundation,
  { context, access }: RequestParts,
  gates: FeatureGates,
): UnstoredResource[] {
  const pods = requireKind(registry, '', 'Pod')
  const budgets = requireKind(registry, 'policy', 'PodDisruptionBudget')
  const connected = {
    pods,
    nodes: requireKind(registry, '', 'Node'),
    services: requireKind(registry, '', 'Service'),
    endpoints: requireKind(registry, '', 'Endpoints'),
  }
  const mayCreate: MayCreate = ({ user, info: { group, resource, subresource, namespace, name } }) =>
    access.authorizer.authorize(user, { verb: 'create', group, resource, subresource, namespace, name })
  return [
    ...podSubresources(context, { pods, budgets }, isGateOn(gates, 'ClearingNominatedNodeNameAfterBinding')),
    ...connectSubresources(context, connected, isGateOn(gates, WEBSOCKET_CREATE) ? mayCreate : () => ALLOWED),
  ]
}
