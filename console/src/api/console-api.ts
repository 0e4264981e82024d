// The endpoints of the console beside the API: state of the server, expressions, costs, plans and samples.
import type { ExplainedExpression } from '../../../src/authoring/explained-expression.js'
import { getJson } from './client.js'

export type { CostRange, ExplainedExpression, ExplainedPart } from '../../../src/authoring/explained-expression.js'

export interface ServerInfo {
  readonly version: string
  readonly binnacle: string
  readonly testing: boolean
  readonly node: string
  readonly platform: string
  readonly uptimeSeconds: number
  readonly process: {
    readonly pid: number
    readonly rss: number
    readonly heapUsed: number
    readonly cpuSeconds: number
  }
  readonly health: {
    readonly ok: boolean
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason?: string }[]
  }
  readonly storage: {
    readonly kind: string
    readonly historySeconds: number
    readonly revision: number
    readonly bytes?: number
    readonly objects: readonly { readonly group: string; readonly resource: string; readonly count: number }[]
  }
  readonly load: {
    readonly reading: number
    readonly mutating: number
    readonly watches: number
    readonly byResource: readonly {
      readonly group: string
      readonly version: string
      readonly resource: string
      readonly namespace: string
      readonly count: number
    }[]
  }
  readonly requests: readonly RequestRow[]
  readonly webhooks: readonly WebhookRow[]
}

interface Latency {
  readonly meanMs?: number
  readonly p50Ms?: number
  readonly p99Ms?: number
}

export interface RequestRow extends Latency {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly count: number
  readonly errors: number
  readonly codes: Readonly<Record<string, number>>
}

export interface WebhookRow extends Latency {
  readonly name: string
  readonly type: string
  readonly calls: number
  readonly failures: number
  readonly rejections: number
  readonly failedOpen: number
}

export interface RecentRequest {
  readonly seq: number
  readonly time: string
  readonly milliseconds: number
  readonly status: number
  readonly method: string
  readonly verb?: string
  readonly path: string
  readonly query?: string
  readonly user?: string
  readonly impersonator?: string
  readonly decision: 'allow' | 'forbid' | 'none'
  readonly reason?: string
  readonly userAgent?: string
}

export const readServer = (signal?: AbortSignal): Promise<ServerInfo> => getJson('/console/api/server', { signal })

export const readRequests = (
  after: number,
  signal?: AbortSignal,
): Promise<{ readonly requests: readonly RecentRequest[]; readonly next: number }> =>
  getJson(`/console/api/requests?after=${after}`, { signal })

export type SchemaChoice = {
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
}

export const explain = (body: object, signal?: AbortSignal): Promise<ExplainedExpression> =>
  getJson('/console/api/cel', { method: 'POST', body, signal })

export interface RuleCost {
  readonly path: string
  readonly rule: string
  readonly message?: string
  readonly error?: string
  readonly isTransition: boolean
  readonly estimate: number
  readonly perEvaluation: number
  readonly times: number
  readonly limit: number
  readonly parts: readonly { readonly text: string; readonly depth: number; readonly cost: number }[]
  readonly bounds?: readonly { readonly field: string; readonly keyword: string; readonly max: number }[]
}

export interface VersionCosts {
  readonly name: string
  readonly total: { readonly estimate: number; readonly limit: number }
  readonly rules: readonly RuleCost[]
}

/** `definition`: a CustomResourceDefinition as JSON. */
export const readCosts = (definition: unknown, signal?: AbortSignal): Promise<{ versions: readonly VersionCosts[] }> =>
  getJson('/console/api/costs', { method: 'POST', body: { definition }, signal })

export interface Plan {
  readonly exists: boolean
  readonly objects: number
  readonly truncated: boolean
  readonly findings: readonly {
    readonly rule: string
    readonly severity: 'error' | 'warning' | 'note'
    readonly message: string
    readonly hint?: string
    readonly field?: string
    readonly object?: string
  }[]
}

export const readPlan = (definition: unknown): Promise<Plan> =>
  getJson('/console/api/plan', { method: 'POST', body: { definition } })

export const readSample = (
  schema: SchemaChoice,
  optional: boolean,
  signal?: AbortSignal,
): Promise<{ object: unknown }> =>
  getJson('/console/api/sample', { method: 'POST', body: { schema, optional }, signal })

// ---- a test server

export interface Fault {
  readonly [member: string]: unknown
}

export const readFaults = (signal?: AbortSignal): Promise<{ readonly active: readonly Fault[] }> =>
  getJson('/binnacle/testing/faults', { signal })

export const addFault = (fault: object): Promise<unknown> =>
  getJson('/binnacle/testing/faults', { method: 'POST', body: fault })

export const clearFaults = (): Promise<unknown> => getJson('/binnacle/testing/faults', { method: 'DELETE' })

export const readClock = (signal?: AbortSignal): Promise<{ readonly now: string }> =>
  getJson('/binnacle/testing/clock', { signal })

export const moveClock = (change: object): Promise<unknown> =>
  getJson('/binnacle/testing/clock', { method: 'POST', body: change })
