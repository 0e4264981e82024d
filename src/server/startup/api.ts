// The API on top of kinds and their objects: who may ask, what is answered besides resources, and what is counted.

import { createImpersonation } from '../../auth/impersonation.js'
import { ISSUER_PATH, issuerDocument, KEYS_PATH, keysDocument } from '../../auth/tokens.js'
import type { Logger } from '../../base/logger.js'
import { packageVersion } from '../../base/package-version.js'
import type { Definitions } from '../../controllers/definitions.js'
import { waitingVerbs } from '../../controllers/definitions.js'
import { createDiscovery } from '../../discovery/discovery.js'
import { API_VERSION } from '../../discovery/version.js'
import { type ApiHandler, type Authenticate, createApiHandler } from '../../http/handler.js'
import type { LimitOptions } from '../../http/limits.js'
import {
  findIn,
  findOpenApi,
  findPage,
  firstOf,
  type HealthCheck,
  healthPaths,
  type PathHandler,
  type PathTable,
} from '../../http/pages.js'
import type { Registry } from '../../kinds/registry.js'
import type { ValueObject } from '../../meta/values/value.js'
import { createOpenApi } from '../../openapi/openapi.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import { builtinTypes, type ResourceFacts } from '../../types/type-table.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { createVerbs } from '../../verbs/verbs.js'
import { deprecatedUse } from '../observability/deprecated-use.js'
import { createMetrics, knownSubresource, METRICS_TYPE, type Metrics } from '../observability/metrics.js'
import type { AccessControl } from './access.js'

export interface ApiParts {
  readonly registry: Registry
  readonly context: ApiContext
  readonly definitions: Definitions
  readonly access: AccessControl
  /** What is answered without being stored. */
  readonly virtualResources: readonly VirtualResource[]
  readonly authenticate: Authenticate
  readonly limits: Partial<LimitOptions> | undefined
  readonly minRequestTimeoutMs: number | undefined
  /** Rejects when the store does not answer. */
  revision(): Promise<number>
  storedBytes(): Promise<number | undefined>
  isStopping(): boolean
  /** `HOST:PORT`. */
  serverAddress(): string
  /** The URL of the public keys for tokens of service accounts. */
  jwksUri(): string
  readonly log: Logger
  /** Hears of what is worth knowing and no fault. */
  notice(text: string): void
}

export function createApi(parts: ApiParts): ApiHandler {
  const { registry, context, access, log, limits, minRequestTimeoutMs } = parts
  const metrics = createMetrics({
    get load() {
      return api.load
    },
    revision: parts.revision,
    storedBytes: parts.storedBytes,
  })
  const ownPaths = ownPathsOf(parts, metrics)
  const discovery = createDiscovery({
    registry,
    extras: extrasOf(parts.virtualResources),
    serverAddress: parts.serverAddress,
    otherPaths: [...ownPaths.keys(), '/openapi/v2', '/openapi/v3', '/openapi/v3/'],
  })
  const openapi = createOpenApi({
    registry,
    types: builtinTypes,
    extras: extrasOf(parts.virtualResources),
    serverVersion: API_VERSION,
    build: packageVersion(),
    now: context.now,
  })
  const api = createApiHandler({
    registry,
    verbs: waitingVerbs(createVerbs(context), parts.definitions),
    authenticate: parts.authenticate,
    authorize: access.authorizer.authorize,
    impersonate: createImpersonation(access.authorizer.authorize),
    virtualResources: parts.virtualResources,
    findPath: firstOf(findIn(ownPaths), findOpenApi(openapi), findPage(discovery)),
    limits,
    minRequestTimeoutMs,
    now: context.now,
    log,
    observe: (info, status, milliseconds) => count(metrics, registry, info, status, milliseconds),
    onDeprecated: deprecatedUse(metrics, parts.notice),
  })
  return api
}

/** What discovery lists of them. */
function extrasOf(kinds: readonly VirtualResource[]): Record<string, ResourceFacts[]> {
  const extras: Record<string, ResourceFacts[]> = {}
  for (const { apiVersion, resource: facts } of kinds) (extras[apiVersion] ??= []).push(facts)
  return extras
}

function ownPathsOf({ revision, isStopping, access, jwksUri }: ApiParts, metrics: Metrics): PathTable {
  const ping: HealthCheck = async () => {}
  // By the name that those who ask kube-apiserver know, whichever store it is.
  const etcd: HealthCheck = async () => void (await revision())
  const shutdown: HealthCheck = async () => {
    if (isStopping()) throw new Error('the server is stopping')
  }
  const showMetrics: PathHandler = async ({ reply }) =>
    reply.send(200, { 'content-type': METRICS_TYPE }, await metrics.print())
  return new Map<string, PathHandler>([
    ...healthPaths('/healthz', { ping, etcd }),
    ...healthPaths('/livez', { ping }),
    ...healthPaths('/readyz', { ping, etcd, shutdown }),
    ['/metrics', showMetrics],
    [ISSUER_PATH, showJson('application/json', () => issuerDocument(access.authority, jwksUri()))],
    [KEYS_PATH, showJson('application/jwk-set+json', () => keysDocument(access.authority))],
  ])
}

const showJson =
  (type: string, document: () => ValueObject): PathHandler =>
  ({ reply }) =>
    reply.send(200, { 'content-type': type }, JSON.stringify(document()))

const VERBS = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'post',
  'put',
])

/** Only what is served is counted by name: the names that clients think of have no end. */
function count(metrics: Metrics, registry: Registry, info: RequestInfo, code: number, milliseconds: number): void {
  const isServed = info.isResource && registry.find(info.group, info.version, info.resource) !== undefined
  metrics.onRequestEnd({
    verb: VERBS.has(info.verb) ? info.verb : 'other',
    group: isServed ? info.group : '',
    version: isServed ? info.version : '',
    resource: isServed ? info.resource : '',
    subresource: isServed ? knownSubresource(info) : '',
    code,
    seconds: milliseconds / 1000,
  })
}
