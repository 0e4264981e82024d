// The table of the endpoints below /console/api/.

import type { TokenAuthenticator } from '../../auth/authenticator.js'
import type { Authorizer } from '../../auth/authorizer.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import type { ApiHandler } from '../../http/handler.js'
import type { PathHandler, PathTable } from '../../http/pages.js'
import type { Registry } from '../../kinds/registry.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Sessions } from '../sessions.js'
import { serveCode } from './codes.js'
import { type Endpoint, servedBy } from './endpoint.js'
import type { RecentRequests } from './recent-requests.js'

export interface EndpointParts {
  readonly sessions: Sessions
  readonly tokens: readonly TokenAuthenticator[]
  /** The audiences of this server. */
  readonly audiences: readonly string[]
  /** What the page gets about the server, with its session. */
  readonly about: ValueObject
  readonly registry: Registry
  readonly authorizer: Authorizer
  readonly metrics: MetricsRegistry
  /** Where objects are stored, and for how long changes are kept. */
  readonly storage: ValueObject
  /** Health checks; each rejects with the reason if it fails. */
  readonly checks: () => Readonly<Record<string, () => Promise<void>>>
  /** The handler of the API, once there is one. */
  readonly api: () => Pick<ApiHandler, 'handle' | 'load' | 'openWatches'>
}

export function endpointPaths(parts: EndpointParts, recent: RecentRequests): PathTable {
  const { registry, authorizer, api } = parts
  const on = (method: 'GET' | 'POST', load: () => Promise<Endpoint>): PathHandler => {
    let loaded: Promise<Endpoint> | undefined
    return servedBy(
      method,
      exchange => api().handle(exchange),
      () => (loaded ??= load()),
    )
  }
  const info = { ...parts, load: () => api().load, openWatches: () => api().openWatches() }
  return new Map([
    ['/console/api/codes', serveCode(parts)],
    ['/console/api/history', on('GET', async () => (await import('./history.js')).history)],
    ['/console/api/cel', on('POST', async () => (await import('./cel.js')).createCel(registry, authorizer))],
    ['/console/api/costs', on('POST', async () => (await import('./costs.js')).createCosts(registry))],
    ['/console/api/plan', on('POST', async () => (await import('./plan.js')).createPlan(registry))],
    ['/console/api/sample', on('POST', async () => (await import('./sample.js')).createSample(registry))],
    ['/console/api/server', on('GET', async () => (await import('./server-info.js')).createServerInfo(info))],
    ['/console/api/requests', on('GET', async () => (await import('./requests.js')).createRequests(recent))],
  ])
}
