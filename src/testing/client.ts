// Requests of a test to its server, over the wire as every client sends them.
import { request as requestHttp } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

export interface ClientAccess {
  readonly url: string
  /** PEM; empty for plain http. */
  readonly ca: string
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
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
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

/** The error of the server, as an exception. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly code: number,
    /** The Status that the server answered, or its text. */
    readonly status: unknown,
    message: string,
  ) {
    super(message)
  }
}

/** The object of a response. Throws an ApiError for a refusal. */
export async function readObject(response: Response): Promise<KubernetesObject> {
  const text = await response.text()
  const body = parse(text)
  if (response.ok) return body as KubernetesObject
  const message = (body as { readonly message?: unknown } | undefined)?.message
  throw new ApiError(response.status, body ?? text, typeof message === 'string' ? message : text)
}

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly uid?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- the fields of any kind
  readonly [field: string]: any
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
