// A conversion webhook on a loopback port, with a certificate for any host: v1beta1 has `hostPort`, v1 has `host` and
// `port`. It counts calls, and can be slow, hang, or be stopped.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { makeCertificate } from '../../src/server/tls/x509.js'

interface Converted {
  apiVersion: string
  host?: string
  port?: string
  hostPort?: string
}

export interface WebhookServer {
  readonly port: number
  /** Base64, as in definitions. */
  readonly caBundle: string
  /** The certificate of the server itself, in the same format. */
  readonly ownBundle: string
  /** The number of objects of each call. */
  readonly calls: number[]
  /** The version of HTTP of each call. */
  readonly versions: string[]
  /** Resets the streams of further calls with this code of HTTP/2. */
  resetWith(code: number | undefined): void
  /** Announces on all connections of HTTP/2 that further calls are not answered. */
  sayGoAway(): void
  /** The number of connections. */
  readonly connections: number
  /** Does not respond until the promise resolves. */
  holdUntil(release: Promise<unknown> | undefined): void
  /** Closes open connections. */
  dropConnections(): void
  stop(): Promise<void>
}

const DAY = 86_400_000

export interface WebhookServerOptions {
  /** Its certificate is self-signed. */
  readonly selfSigned?: boolean
  /** It speaks HTTP/2, and HTTP/1.1 to clients that do not offer it. */
  readonly http2?: boolean
}

export async function startWebhookServer(
  hosts: readonly string[] = ['127.0.0.1'],
  { selfSigned = false, http2 = false }: WebhookServerOptions = {},
): Promise<WebhookServer> {
  const validity = { from: new Date(Date.now() - DAY), to: new Date(Date.now() + DAY) }
  const ca = await makeCertificate({ subject: { name: 'webhook test CA' }, validity, use: 'authority' })
  const pair = await makeCertificate(
    { subject: { name: 'webhook' }, validity, use: 'server', hosts },
    selfSigned ? undefined : ca,
  )
  const calls: number[] = []
  const versions: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let hold: Promise<unknown> | undefined
  const sessions = new Set<ServerHttp2Session>()
  let reset: number | undefined
  const options = { cert: pair.cert, key: pair.key }
  const listener = (...exchange: Parameters<typeof answer>): void => void answer(...exchange)
  const server: Server | Http2SecureServer = http2
    ? createSecureServer({ ...options, allowHTTP1: true }, listener)
    : createServer(options, listener)

  async function answer(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): Promise<void> {
    versions.push(request.httpVersion)
    if (reset !== undefined && 'stream' in request) return request.stream.close(reset)
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const review = JSON.parse(text)
    const { uid, objects, desiredAPIVersion } = review.request
    calls.push(objects.length)
    await hold
    const convertedObjects = objects.map((object: Converted) => convert(object, desiredAPIVersion))
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        apiVersion: review.apiVersion,
        kind: review.kind,
        response: { uid, result: { status: 'Success' }, convertedObjects },
      }),
    )
  }

  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  server.on('secureConnection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(ca.cert).toString('base64'),
    ownBundle: Buffer.from(pair.cert).toString('base64'),
    calls,
    versions,
    resetWith(code) {
      reset = code
    },
    sayGoAway() {
      for (const session of sessions) session.goaway()
    },
    get connections() {
      return connections
    },
    holdUntil(release) {
      hold = release
    },
    dropConnections() {
      for (const socket of sockets) socket.destroy()
    },
    async stop() {
      if (!server.listening) return
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function convert(object: Converted, apiVersion: string): Converted {
  const { host, port = '', hostPort, ...rest } = object
  if (apiVersion.endsWith('/v1')) {
    const [before, after] = hostPort?.split(':') ?? [host, port]
    return { ...rest, apiVersion, ...(before !== undefined && { host: before, port: after ?? '' }) }
  }
  return { ...rest, apiVersion, ...(host !== undefined && { hostPort: `${host}:${port}` }) }
}
