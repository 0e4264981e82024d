// A conversion webhook on a loopback port, with a certificate for any host: v1beta1 has `hostPort`, v1 has `host` and
// `port`. It counts calls, and can be slow, hang, or be stopped.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
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
}

export async function startWebhookServer(
  hosts: readonly string[] = ['127.0.0.1'],
  { selfSigned = false }: WebhookServerOptions = {},
): Promise<WebhookServer> {
  const validity = { from: new Date(Date.now() - DAY), to: new Date(Date.now() + DAY) }
  const ca = await makeCertificate({ subject: { name: 'webhook test CA' }, validity, use: 'authority' })
  const pair = await makeCertificate(
    { subject: { name: 'webhook' }, validity, use: 'server', hosts },
    selfSigned ? undefined : ca,
  )
  const calls: number[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let hold: Promise<unknown> | undefined
  const server: Server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
    void answer(request, response)
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
