// The handler of all requests: the verbs on resources, and the paths beside them (health, discovery, OpenAPI, metrics).

import type { Aggregator } from '../../aggregation/aggregator.js'
import { createImpersonation } from '../../auth/impersonation.js'
import { ISSUER_PATH, issuerDocument, KEYS_PATH, keysDocument } from '../../auth/tokens.js'
import type { Logger } from '../../base/logger.js'
import { METRICS_MEDIA_TYPE, type MetricsRegistry } from '../../base/metrics.js'
import { packageVersion } from '../../base/package-version.js'
import type { Definitions } from '../../controllers/definitions.js'
import { verbsByCurrentDefinition, waitingVerbs } from '../../controllers/definitions.js'
import { createDiscovery } from '../../discovery/discovery.js'
import { DEBUG_PATHS } from '../../flowcontrol/debug-pages.js'
import type { FlowControl } from '../../flowcontrol/flow-control.js'
import { type ApiHandler, type Audit, type Authenticate, createApiHandler, type Tracing } from '../../http/handler.js'
import {
  findIn,
  findOpenApi,
  findPage,
  firstOf,
  type HealthCheck,
  healthPaths,
  jsonPage,
  type PathHandler,
  type PathTable,
} from '../../http/pages.js'
import type { Registry } from '../../kinds/registry.js'
import { type EffectiveVersion, printMinor } from '../../meta/effective-version.js'
import { statusOfStorageError } from '../../objects/storage-status.js'
import { createOpenApi, type ExtraResource } from '../../openapi/openapi.js'
import { isConnect, type UnstoredResource } from '../../request/connect-resource.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { createVerbs } from '../../verbs/verbs.js'
import { measureAuthentication, measureAuthorization } from '../observability/access-metrics.js'
import { deprecatedUse } from '../observability/deprecated-use.js'
import type { HealthMetrics } from '../observability/health-metrics.js'
import { impersonationMetrics } from '../observability/impersonation-metrics.js'
import { createRequestLog } from '../observability/request-log.js'
import { createRequestMetrics } from '../observability/request-metrics.js'
import { type Verbosity, verbosityPages } from '../observability/verbosity.js'
import type { ServerHooks } from '../options/hooks.js'
import type { LimitOptions } from '../options/limits.js'
import type { AccessControl } from './access/access.js'
import { healthChecks } from './health-checks.js'

export interface ApiParts {
  readonly registry: Registry
  readonly context: ApiContext
  readonly definitions: Definitions
  readonly access: AccessControl
  readonly aggregator: Aggregator
  /** Resources that are answered and not stored. */
  readonly virtualResources: readonly UnstoredResource[]
  readonly authenticate: Authenticate
  /** Priority and fairness; undefined where only the in-flight limits hold. */
  readonly flowControl: FlowControl | undefined
  readonly audit: Audit | undefined
  /** Whether bodies and responses may be CBOR. */
  readonly cbor: boolean
  /** Whether OpenAPI lists the values that a field may have. */
  readonly openApiEnums: boolean
  /** Whether discovery shows the hashes of storage versions. */
  readonly storageHashes: boolean
  /** Whether there are the newer modes of impersonation. */
  readonly constrainedImpersonation: boolean
  /** The release that the server behaves as. */
  readonly version: EffectiveVersion
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined
  readonly limits: LimitOptions
  /** How much is logged about requests. */
  readonly verbosity: Verbosity
  /** Rejects with the reason when the store does not answer. */
  checkStore(): Promise<void>
  isStopping(): boolean
  isInSync(): boolean
  readonly encryptionChecks: Readonly<Record<string, HealthCheck>>
  /** `HOST:PORT`. */
  serverAddress(): string
  /** The URL of the public keys for tokens of service accounts. */
  jwksUri(): string
  readonly log: Logger
  readonly metrics: MetricsRegistry
  /** /metrics/slis. */
  readonly healthMetrics: HealthMetrics
  readonly hooks?: ServerHooks | undefined
  /** /statusz and /flagz. */
  readonly pages: readonly [string, PathHandler][]
  /** Paths beside those of the API. */
  readonly consolePaths?: PathTable | undefined
  /** Called for each request once it is answered. */
  readonly observe?: ServerHooks['observe']
}

export function createApi(parts: ApiParts): ApiHandler {
  const { registry, context, access, log, limits, hooks } = parts
  const requestMetrics = createRequestMetrics(parts.metrics, registry, () => api)
  const logRequest = createRequestLog(parts.verbosity)
  const ownPaths = ownPathsOf(parts)
  // They are not listed at the root.
  const debugPaths = new Map([
    ...verbosityPages(parts.verbosity),
    ...(parts.flowControl ? flowControlPaths(parts.flowControl) : []),
  ])
  const discovery = createDiscovery({
    registry,
    extras: extrasOf(parts.virtualResources),
    remote: parts.aggregator.discovery,
    serverAddress: parts.serverAddress,
    version: parts.version,
    hasStorageHashes: parts.storageHashes,
    otherPaths: [
      ...[...ownPaths.keys()].filter(path => !path.endsWith('/')),
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/',
    ],
  })
  const openapi = createOpenApi({
    registry,
    types: builtinTypes,
    extras: extrasOf(parts.virtualResources),
    remote: parts.aggregator.openapi,
    serverVersion: printMinor(parts.version.emulation),
    build: packageVersion(),
    cbor: parts.cbor,
    enums: parts.openApiEnums,
    now: context.now,
  })
  const current = verbsByCurrentDefinition(createVerbs(context), parts.definitions, registry)
  const verbs = waitingVerbs(current, parts.definitions)
  const api = createApiHandler({
    registry,
    verbs: hooks?.wrapVerbs?.(verbs) ?? verbs,
    authenticate: measureAuthentication(parts.authenticate, parts.metrics),
    authorize: measureAuthorization(access.authorizer.authorize, parts.metrics),
    flowControl: parts.flowControl,
    audit: parts.audit,
    tracing: parts.tracing,
    impersonate: createImpersonation(
      access.authorizer.authorize,
      parts.constrainedImpersonation,
      parts.constrainedImpersonation ? impersonationMetrics(parts.metrics) : undefined,
    ),
    proxies: parts.aggregator,
    virtualResources: parts.virtualResources,
    findPath: firstOf(
      findIn(hooks?.paths ?? NO_PATHS),
      findIn(ownPaths),
      findIn(debugPaths),
      findIn(parts.consolePaths ?? NO_PATHS),
      findOpenApi(openapi),
      findPage(discovery),
    ),
    cbor: parts.cbor,
    limits: limits.requests,
    readers: hooks?.listeners?.readers,
    minRequestTimeoutMs: limits.minRequestTimeoutMs,
    now: context.now,
    asStatusError: statusOfStorageError,
    log,
    observe(request, status, milliseconds) {
      requestMetrics.onRequestEnd(request, status, milliseconds / 1000)
      logRequest(request, status, milliseconds)
      hooks?.observe?.(request, status, milliseconds)
      parts.observe?.(request, status, milliseconds)
    },
    onDeprecated: deprecatedUse(requestMetrics, log),
    observeWatch: requestMetrics.onWatch,
  })
  return api
}

const NO_PATHS: PathTable = new Map()

/** The resources that are not in the registry by group version, for discovery and OpenAPI. */
function extrasOf(resources: readonly UnstoredResource[]): Record<string, ExtraResource[]> {
  const extras: Record<string, ExtraResource[]> = {}
  for (const each of resources) {
    const { apiVersion, resource } = each
    ;(extras[apiVersion] ??= []).push({ ...resource, connect: isConnect(each) ? each : undefined })
  }
  return extras
}

function ownPathsOf(parts: ApiParts): PathTable {
  const { access, healthMetrics, jwksUri, metrics, pages } = parts
  const checks = healthChecks(parts)
  const showMetrics: PathHandler = async ({ reply }) =>
    reply.send(200, { 'content-type': METRICS_MEDIA_TYPE }, await metrics.print())
  return new Map<string, PathHandler>([
    ...healthPaths('/healthz', checks.healthz, healthMetrics.observer('healthz')),
    ...healthPaths('/livez', checks.livez, healthMetrics.observer('livez')),
    ...healthPaths('/readyz', checks.readyz, healthMetrics.observer('readyz')),
    ['/metrics', showMetrics],
    ['/metrics/slis', healthMetrics.page],
    ...pages,
    ...jsonPage(ISSUER_PATH, 'application/json', () => issuerDocument(access.authority, jwksUri())),
    ...jsonPage(KEYS_PATH, 'application/jwk-set+json', () => keysDocument(access.authority)),
  ])
}

function flowControlPaths(control: FlowControl): [string, PathHandler][] {
  return Object.entries(DEBUG_PATHS).map(([name, dump]) => [
    `/debug/api_priority_and_fairness/${name}`,
    ({ reply, info }) => reply.send(200, { 'content-type': TEXT }, dump(control, info.query)),
  ])
}

const TEXT = 'text/plain; charset=utf-8'
