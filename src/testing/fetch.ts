// Requests of a test to its server, over the wire as every client sends them.
import { request as requestHttp } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { KubernetesObject } from './kinds.js'

export interface ClientAccess {
  readonly url: string
  /** PEM; empty for plain http. */
  readonly ca: string
  /** Empty for a client without credentials. */
  readonly token: string
}

/** As the global `fetch`, for a path of the server and with the credentials of a user. */
export type Fetch = (path: string, init?: FetchInit) => Promise<Response>

export interface FetchInit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

export function createFetch({ url, ca, token }: ClientAccess): Fetch {
  const isHttps = url.startsWith('https:')
  // Its idle connections do not keep the process alive.
  const agent = isHttps ? new Agent({ ca, keepAlive: true }) : undefined
  return (path, { method = 'GET', headers = {}, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const open = isHttps ? requestHttps : requestHttp
      const outgoing = open(new URL(path, url), {
        agent,
        method,
        signal,
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          // Without a length, Node sends the body of a DELETE as if it were another request.
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      })
      outgoing.on('error', reject)
      outgoing.on('response', response => {
        const status = response.statusCode ?? 0
        const entries = Object.entries(response.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map(each => [name, each] as [string, string]),
        )
        const content = EMPTY.has(status) ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>)
        resolve(new Response(content as ConstructorParameters<typeof Response>[0], { status, headers: entries }))
      })
      outgoing.end(body)
    })
}

/** A Response of these must not have a body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])

/** What the server answers to a request that it refuses, and to some deletions. */
export interface Status {
  readonly apiVersion?: string
  readonly kind: 'Status'
  readonly status?: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
  }
}

/** A refusal of the server, as an exception. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly code: number
  /** `NotFound`, `Conflict`, `Invalid` …; empty if the server gave none. */
  readonly reason: string

  constructor(readonly status: Status) {
    super(status.message ?? `the server answered ${status.code}`)
    this.code = status.code ?? 0
    this.reason = status.reason ?? ''
  }
}

/** The object of a response. Throws a StatusError for a refusal. */
export async function readObject(response: Response): Promise<KubernetesObject> {
  const text = await response.text()
  const body = parse(text) as KubernetesObject | undefined
  if (response.ok) return body!
  const status: Status = body?.kind === 'Status' ? (body as unknown as Status) : { kind: 'Status', message: text }
  throw new StatusError({ ...status, code: response.status })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
