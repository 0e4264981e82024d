// A server with test kinds over sockets, and clients for HTTP/1.1 and HTTP/2.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { ALWAYS_ALLOW } from '../../src/auth/authz/authorizer.js'
import { NO_LOGGER } from '../../src/base/logger.js'
import { type ApiHandler, type ApiOptions, createApiHandler } from '../../src/http/handler.js'
import { listen } from '../../src/http/listener.js'
import { healthPaths } from '../../src/http/serve/health.js'
import { findIn } from '../../src/http/serve/paths.js'
import { noteKind, widgetKind } from '../../src/kinds/fake-kinds.suite.js'
import type { Kind } from '../../src/kinds/kind.js'
import { createRegistry } from '../../src/kinds/registry.js'
import { type UserInfo } from '../../src/request/user-info.js'
import { type Certificates, makeCertificates } from '../../src/server/tls/certificates.js'
import { createMemoryStore } from '../../src/storage/memory/memory-store.js'
import { type ApiContext, createApiContext } from '../../src/verbs/api-context.js'
import { createVerbs, type Verbs } from '../../src/verbs/verbs.js'

export interface ApiFixture {
  readonly url: string
  readonly port: number
  readonly ca: string
  readonly handler: ApiHandler
  readonly context: ApiContext
  readonly errors: unknown[]
  close(): Promise<void>
}

export interface FixtureOptions extends Partial<ApiOptions> {
  readonly kinds?: readonly Kind[]
  /** Wraps the verbs. */
  readonly around?: (verbs: Verbs) => Verbs
}

const ADMIN: UserInfo = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }

let certificates: Promise<Certificates> | undefined

export async function startApi(options: FixtureOptions = {}): Promise<ApiFixture> {
  certificates ??= makeCertificates(['127.0.0.1'])
  const { ca, server } = await certificates
  const { kinds = [noteKind(), widgetKind()], around = verbs => verbs, ...others } = options
  const registry = createRegistry()
  for (const kind of kinds) registry.put(kind)
  const store = createMemoryStore()
  const context = createApiContext({ store })
  const errors: unknown[] = []
  const handler = createApiHandler({
    registry,
    verbs: around(createVerbs(context)),
    authenticate: () => ADMIN,
    authorize: ALWAYS_ALLOW.authorize,
    findPath: findIn(new Map(healthPaths('/healthz', { ping: async () => {} }))),
    log: { ...NO_LOGGER, error: (_, fields) => errors.push(fields?.['error']) },
    observe: ({ failure }) => void (failure === undefined || errors.push(failure)),
    ...others,
  })
  const listener = await listen({ address: '127.0.0.1', port: 0, tls: { ...server, clientCa: ca } }, handler.handle)
  return {
    url: listener.url,
    port: listener.port,
    ca,
    handler,
    context,
    errors,
    async close() {
      handler.endWatches()
      await listener.close(0)
      await context.close()
      await store.close()
    },
  }
}

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** The body is announced but never completed. */
  readonly unfinished?: boolean
}

/** Typed by each test. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  json(): Json
}

/** A client of one version of HTTP. */
export interface Client {
  send(request: Sent): Promise<Answered>
  /** Resolves when the headers have arrived; the body is read on demand. */
  open(request: Sent): Promise<OpenAnswer>
  close(): void
}

export interface OpenAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly stream: NodeJS.ReadableStream & { destroy(): void }
}

export async function http1Client({ port, ca }: ApiFixture): Promise<Client> {
  const agent = new https.Agent({ ca, keepAlive: true })
  const open = ({ method = 'GET', path, headers, body, unfinished }: Sent): Promise<OpenAnswer> =>
    new Promise((resolve, reject) => {
      const payload = bytesOf(body)
      const request = https.request({
        host: '127.0.0.1',
        port,
        agent,
        method,
        path,
        headers: {
          ...withType(headers, payload),
          ...(payload && !unfinished && { 'content-length': String(payload.length) }),
        },
      })
      request.on('response', (response: IncomingMessage) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, stream: response }),
      )
      request.on('error', reject)
      if (unfinished) request.write(payload)
      else request.end(payload)
    })
  return { open, send: async request => readAll(await open(request)), close: () => agent.destroy() }
}

export async function http2Client({ url, ca }: ApiFixture): Promise<Client> {
  const session = http2.connect(url, { ca })
  session.on('error', () => {})
  const open = ({ method = 'GET', path, headers, body, unfinished }: Sent): Promise<OpenAnswer> =>
    new Promise((resolve, reject) => {
      const payload = bytesOf(body)
      const stream = session.request(
        { ':method': method, ':path': path, ...withType(headers, payload) },
        { endStream: payload === undefined },
      )
      stream.on('response', answer => resolve({ status: Number(answer[':status']), headers: answer, stream }))
      stream.on('error', reject)
      if (unfinished) stream.write(payload)
      else if (payload) stream.end(payload)
    })
  return { open, send: async request => readAll(await open(request)), close: () => session.destroy() }
}

const withType = (headers: Record<string, string> = {}, payload: Buffer | undefined): Record<string, string> =>
  payload && !('content-type' in headers) ? { ...headers, 'content-type': 'application/json' } : headers

const bytesOf = (body: unknown): Buffer | undefined =>
  body === undefined || Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))

export async function readAll({ status, headers, stream }: OpenAnswer): Promise<Answered> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  return { status, headers, bytes, text: bytes.toString(), json: () => JSON.parse(bytes.toString()) }
}

/** Reads lines from a stream. */
export async function* linesOf({ stream }: OpenAnswer): AsyncGenerator<Json> {
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield JSON.parse(line)
  }
}

export const widget = (name: string, spec: object = {}): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
})

export const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
export const NOTES = '/api/v1/namespaces/default/notes'
