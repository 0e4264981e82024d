// Connections to webhooks. Those of HTTP/1.1 are kept and used again. A webhook at a loopback URL is offered HTTP/2 too, as
// by kube-apiserver: if it accepts, all calls are streams of one connection. Others are not: calls that share a connection
// would all go to one of the backends behind an address.

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { checkServerIdentity, type TLSSocket } from 'node:tls'
import type { Dial } from '../base/dial.js'
import type { Destination } from './client-config.js'
import type { Address } from './host-overrides.js'
import { createHttp2Sessions, type Http2Sessions } from './http2-sessions.js'
import { malformedResponse, unsupportedEncoding } from './malformed-response.js'
import { NotProcessed, readResponseBody, type WebhookResponse } from './webhook-response.js'

export interface Connections {
  /** `address`: where to connect to instead of the host. Rejects with the error of the connection. */
  send(
    call: WebhookCall,
    destination: Destination,
    address: Address | undefined,
    signal: AbortSignal,
  ): Promise<WebhookResponse>
  close(): void
}

export interface WebhookCall {
  /** A GET only after a redirection. */
  readonly method: 'POST' | 'GET'
  /** Empty for a GET. */
  readonly body: string
  /** Further headers. */
  readonly headers?: OutgoingHttpHeaders
}

const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 32, timeout: 90_000 }
/** How long a connection to a loopback address may take until the protocol is known. */
const HANDSHAKE_MS = 10_000
/** No certificate for other names is presented to a client that asks for this one, which is kube-apiserver's. */
const OWN_NAME = 'apiserver-loopback-client'
/** How often a call is made that the webhook has not begun with. */
const MAX_ATTEMPTS = 6

/** The options of a request, with what `createConnection` needs to know. */
interface CallOptions extends RequestOptions {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  /** Equal for calls that may share a connection. */
  readonly connectionKey: string
  readonly protocol: Destination['protocol']
  /** Those that take over connections of HTTP/2; undefined if it is not offered. */
  readonly sessions: Http2Sessions | undefined
}

/** `dial`: how they are opened; directly by default. */
export function createConnections(dial?: Dial): Connections {
  let loaded: Promise<Http2Sessions> | undefined
  const agents: Agents = { 'https:': createAgent(dial), 'http:': createPlainAgent(dial) }

  function attempt(options: CallOptions, body: string, signal: AbortSignal): Promise<WebhookResponse> {
    const { connectionKey, method, headers, path, sessions } = options
    return sessions?.send(connectionKey, { method, path, headers, body, signal }) ?? sendByAgent(agents, options, body)
  }

  return {
    async send(call, destination, address, signal) {
      const sessions = isLocal(destination) ? await (loaded ??= createHttp2Sessions()) : undefined
      const options = { ...optionsFor(call, destination, address, signal), sessions }
      for (let attempts = 1; ; attempts++) {
        signal.throwIfAborted()
        try {
          return await attempt(options, call.body, signal)
        } catch (error) {
          if (!(error instanceof NotProcessed) || attempts === MAX_ATTEMPTS) throw error
        }
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
      void loaded?.then(sessions => sessions.close())
    },
  }
}

function optionsFor(
  { method, body, headers = {} }: WebhookCall,
  { host, port, authority, path, ca, credentials, insecure, protocol, own }: Destination,
  address: Address | undefined,
  signal: AbortSignal,
): Omit<CallOptions, 'sessions'> {
  const at = { host: address?.host ?? host, port: address?.port ?? port }
  const servername = own ? OWN_NAME : isIP(host) === 0 ? host : ''
  return {
    protocol,
    method,
    ...at,
    path,
    headers: {
      host: authority,
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'accept-encoding': 'gzip',
      ...(method === 'POST' && { 'content-length': Buffer.byteLength(body) }),
      'user-agent': 'binnacle',
      ...headers,
      ...credentials?.headers,
    },
    // Without a name the certificate is checked against the address.
    servername,
    // The own certificate is trusted itself, whatever names it has.
    checkServerIdentity: (_, certificate) => (own ? undefined : checkServerIdentity(host, certificate)),
    ...(insecure && { rejectUnauthorized: false }),
    ...(ca !== undefined && { ca }),
    ...(credentials?.cert && { cert: credentials.cert, key: credentials.key }),
    // A server's own certificate in the bundle is trusted without its issuer, as by Go.
    allowPartialTrustChain: true,
    signal,
    connectionKey: JSON.stringify([at.host, at.port, servername, ca, insecure, credentials?.cert?.toString('latin1')]),
  }
}

const isLocal = ({ host, service, protocol }: Destination): boolean =>
  protocol === 'https:' &&
  !service &&
  (host.toLowerCase() === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.')))

// ---- HTTP/1.1

type Agents = Readonly<Record<Destination['protocol'], HttpAgent>>

async function sendByAgent(agents: Agents, options: CallOptions, body: string): Promise<WebhookResponse> {
  const send = options.protocol === 'https:' ? request : httpRequest
  const outgoing = send({ ...options, agent: agents[options.protocol] })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve)
      outgoing.on('error', reject)
      outgoing.end(body)
    })
    const { statusCode = 0, headers } = response
    const { 'transfer-encoding': encoding } = headers
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
      response.destroy()
      throw new Error(unsupportedEncoding(encoding))
    }
    return { status: statusCode, headers, body: await readResponseBody(response, headers, Buffer.byteLength(body)) }
  } catch (error) {
    const { code } = error as { readonly code?: string }
    // The webhook may have closed a kept connection before it saw the call.
    const isLost = outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
    if (isLost) throw new NotProcessed('EOF', { cause: error })
    const reason = malformedResponse(error)
    throw reason === undefined ? error : new Error(reason, { cause: error })
  }
}

/** An agent whose new connections may turn out to be of HTTP/2: then the sessions take them over, and the call is repeated. */
function createAgent(dial: Dial | undefined): Agent {
  const agent = new Agent(AGENT)
  const connect = agent.createConnection.bind(agent)
  const begin = (options: CallOptions, callback: Connected, through?: { readonly socket: Socket }) => {
    const { sessions, connectionKey } = options
    if (!sessions) return connect({ ...options, ...through })
    const socket = connect({ ...options, ...through, ALPNProtocols: ['h2', 'http/1.1'] } as RequestOptions) as TLSSocket
    const timer = setTimeout(() => socket.destroy(new Error('net/http: TLS handshake timeout')), HANDSHAKE_MS)
    socket.once('error', callback)
    socket.once('close', () => clearTimeout(timer))
    socket.once('secureConnect', () => {
      clearTimeout(timer)
      socket.off('error', callback)
      if (socket.alpnProtocol !== 'h2') return callback(null, socket)
      sessions.adopt(connectionKey, socket)
      callback(new NotProcessed('http2: client connection lost'))
    })
    return undefined
  }
  const createConnection = (options: CallOptions, connected: Connected) => {
    if (!dial) return begin(options, connected)
    dialFor(dial, options).then(socket => {
      const secured = begin(options, connected, { socket })
      if (secured) connected(null, secured as TLSSocket)
    }, connected)
    return undefined
  }
  return Object.assign(agent, { createConnection })
}

type Connected = (error: Error | null, socket?: Socket) => void

const dialFor = (dial: Dial, { host, port }: RequestOptions): Promise<Socket> => dial(String(host), Number(port))

function createPlainAgent(dial: Dial | undefined): HttpAgent {
  const agent = new HttpAgent(AGENT)
  if (!dial) return agent
  const createConnection = (options: CallOptions, connected: Connected) => {
    dialFor(dial, options).then(socket => connected(null, socket.resume()), connected)
    return undefined
  }
  return Object.assign(agent, { createConnection })
}
