// Passes a request on to an extension server and its response back, as it arrives. The user is named by headers; hop-by-hop
// headers and credentials stay here.
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { outgoingTraceHeaders } from '../base/tracing/span.js'
import type { Outgoing } from '../http/exchange.js'
import type { Outcome, ProxiedRequest } from '../http/handler.js'
import type { Endpoint } from '../webhook/host-overrides.js'
import { networkReason } from '../webhook/webhook-error.js'
import type { RemoteService } from './remote-services.js'
import { hostPort, type Transport, userHeaders } from './transport.js'

export interface Proxy {
  serve(service: RemoteService, request: ProxiedRequest, ended: () => void): Promise<Outcome>
  /** Ends responses without an end. */
  endStreams(): void
}

/** How long the discovery document of a group version may take, as with kube-apiserver. */
const DISCOVERY_MS = 5_000
/** How often a request whose body is known to be empty is sent again when a kept connection turns out to be closed. */
const MAX_ATTEMPTS = 3

export function createProxy(transport: Transport, forwardsRedirects = false): Proxy {
  /** Responses without an end, and connections of other protocols. */
  const streams = new Set<() => void>()

  async function serve(service: RemoteService, request: ProxiedRequest, ended: () => void): Promise<Outcome> {
    const { reply, exchange } = request
    if (!service.isAvailable) return refuse(request, 'service unavailable')
    let address: Endpoint
    try {
      address = await transport.resolve(service)
    } catch (error) {
      request.log.warn('the Service of an APIService cannot be resolved', { apiService: service.name, error })
      return refuse(request, 'service unavailable')
    }
    const call = {
      method: exchange.method,
      path: exchange.query === '' ? exchange.path : `${exchange.path}?${exchange.query}`,
      headers: headersFor(request, address, transport.namesUids),
    }
    const isUpgrade = exchange.takeConnection !== undefined
    const send = (): ClientRequest => transport.request(service, address, { ...call, isUpgrade })
    try {
      if (isUpgrade) return await passUpgrade(request, send(), { streams, ended })
      const response = await responseTo(request, send)
      if (!isFinal(response)) return refuseStatus(request, response)
      if (!forwardsRedirects && isRedirect(response)) return refuseRedirect(request, response)
      return await passBack(request, response, request.deadline === Infinity ? { streams, ended } : undefined)
    } catch (error) {
      if (request.aborted) throw request.aborted
      if (reply.status !== 0) reply.abort()
      const what = isUpgrade ? 'error dialing backend' : 'error trying to reach service'
      return refuse(request, `${what}: ${networkReason(error, address)}`)
    }
  }

  return {
    serve,
    endStreams() {
      for (const end of streams) end()
    },
  }
}

/** Answered as Go's http.Error does. */
function refuse({ reply }: ProxiedRequest, text: string): Outcome {
  if (reply.status === 0) reply.text(503, `${text}\n`)
  return 'done'
}

// ---- the request

const HOP_BY_HOP = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Credentials, impersonation (carried out here), and names of users, which only this server may send. */
const isKeptBack = (name: string): boolean =>
  name === 'authorization' ||
  name === 'host' ||
  name === 'expect' ||
  name.startsWith(':') ||
  name.startsWith('impersonate-') ||
  name.startsWith('x-remote-')

function headersFor(request: ProxiedRequest, address: Endpoint, namesUids: boolean): OutgoingHttpHeaders {
  const { exchange, user, auditId, info } = request
  const { rawHeaders, peer } = exchange
  const hops = hopsOf(exchange.headers.connection)
  const headers = noHeaders()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!hops.has(name) && !isKeptBack(name)) add(headers, name, rawHeaders[i + 1]!)
  }
  if (/\btrailers\b/i.test(String(exchange.headers['te'] ?? ''))) headers['te'] = 'trailers'
  if (exchange.takeConnection) Object.assign(headers, { connection: 'Upgrade', upgrade: exchange.headers.upgrade })
  const forwardedFor = [headers['x-forwarded-for'] ?? [], peer.address].flat().join(', ')
  return {
    ...headers,
    'audit-id': auditId,
    'x-forwarded-for': forwardedFor,
    'x-forwarded-host': hostPort(address),
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': encodeURI(info.path),
    ...userHeaders(user, namesUids),
    ...outgoingTraceHeaders(),
  }
}

/** Without a prototype: a header may be named `constructor`. */
const noHeaders = (): OutgoingHttpHeaders => Object.create(null) as OutgoingHttpHeaders

function add(headers: OutgoingHttpHeaders, name: string, value: string): void {
  const known = headers[name]
  headers[name] = known === undefined ? value : [known, value].flat().map(String)
}

/** The headers of one connection: the standard ones, and those that `Connection` names. */
function hopsOf(connection: string | undefined): ReadonlySet<string> {
  const named = (connection ?? '').split(',').map(name => name.trim().toLowerCase())
  return named.some(name => name !== '' && !HOP_BY_HOP.has(name)) ? new Set([...HOP_BY_HOP, ...named]) : HOP_BY_HOP
}

/** Sends the request with its body, and waits for the head of the response. */
async function responseTo(request: ProxiedRequest, send: () => ClientRequest): Promise<IncomingMessage> {
  const { exchange, info, signal } = request
  const isDiscovery = !info.isResource && info.path.replace(/^\/|\/$/g, '').split('/').length === 3
  for (let attempts = 1; ; attempts++) {
    const outgoing = send()
    const cancel = (): void => void outgoing.destroy()
    signal.addEventListener('abort', cancel)
    outgoing.once('close', () => signal.removeEventListener('abort', cancel))
    const timer = isDiscovery ? setTimeout(() => outgoing.destroy(new Error(DEADLINE)), DISCOVERY_MS) : undefined
    const body = bodySink(outgoing)
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.on('response', resolve)
        outgoing.on('error', reject)
        outgoing.on('close', () => reject(new Error('EOF')))
        if (attempts === 1) exchange.pipeBody(body)
        else outgoing.end()
      })
    } catch (error) {
      const { code } = error as { readonly code?: string }
      const isLost = outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
      if (!isLost || !body.isEmpty() || signal.aborted || attempts === MAX_ATTEMPTS) throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

const DEADLINE = 'context deadline exceeded'

/**
 * The body of a request whose length is not known is sent in chunks. It is empty if it has ended and nothing was written:
 * one that is still to come cannot be sent again, and a request without the body that its header announces would make the
 * next one on that connection its body.
 */
function bodySink(outgoing: ClientRequest): Outgoing & { isEmpty(): boolean } {
  let hasWritten = false
  let hasEnded = false
  return {
    isEmpty: () => hasEnded && !hasWritten,
    write(chunk) {
      if (!hasWritten && !outgoing.headersSent && !outgoing.hasHeader('content-length')) {
        outgoing.setHeader('transfer-encoding', 'chunked')
      }
      hasWritten = true
      return outgoing.destroyed || outgoing.write(chunk)
    },
    onDrain: listener => void outgoing.on('drain', listener),
    end() {
      hasEnded = true
      outgoing.end()
    },
    abort: () => void outgoing.destroy(),
  }
}

// ---- the response

/** A response to a request that asked for no other protocol. Others have no body, or cannot be sent. */
const isFinal = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200

function refuseStatus(request: ProxiedRequest, response: IncomingMessage): Outcome {
  response.destroy()
  return refuse(request, `error trying to reach service: unexpected status code ${response.statusCode}`)
}

/** What a response without an end is kept in, and what is called when it is over. */
interface LongRunning {
  readonly streams: Set<() => void>
  readonly ended: () => void
}

/** Resolves when the response is complete or, if it has no end, when it has begun. */
async function passBack(
  { reply }: ProxiedRequest,
  response: IncomingMessage,
  longRunning?: LongRunning,
): Promise<Outcome> {
  const { statusCode = 502 } = response
  const outgoing = reply.begin(statusCode, responseHeaders(response))
  const over = new Promise<void>(resolve => {
    const end = (): void => {
      response.destroy()
      outgoing.end()
    }
    longRunning?.streams.add(end)
    let goesOn = (): void => {}
    outgoing.onDrain(() => {
      goesOn()
      response.resume()
    })
    response.on('data', (chunk: Buffer) => {
      if (reply.write(chunk)) return
      response.pause()
      goesOn = reply.waitsForClient()
    })
    response.on('end', () => outgoing.end())
    response.on('error', () => outgoing.abort())
    response.on('close', () => {
      goesOn()
      // An incomplete response must not look like a complete one.
      if (!response.complete) outgoing.abort()
      longRunning?.streams.delete(end)
      resolve()
    })
  })
  if (longRunning) {
    void over.then(longRunning.ended)
    return 'streaming'
  }
  await over
  return 'done'
}

const isRedirect = ({ statusCode = 0, headers }: IncomingMessage): boolean =>
  statusCode >= 300 && statusCode < 400 && headers.location !== undefined

function refuseRedirect({ reply }: ProxiedRequest, response: IncomingMessage): Outcome {
  response.destroy()
  reply.send(502, { 'content-type': 'text/plain; charset=utf-8' }, REDIRECTED)
  return 'done'
}

const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted'

function responseHeaders({ rawHeaders, headers: { connection }, statusCode }: IncomingMessage): OutgoingHttpHeaders {
  const hops = hopsOf(connection)
  const headers = noHeaders()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!hops.has(name)) add(headers, name, rawHeaders[i + 1]!)
  }
  if (statusCode === NO_CONTENT) delete headers['content-length']
  return headers
}

/** Such a response has no body, whatever its headers say. */
const NO_CONTENT = 204

// ---- other protocols

/** Joins the connection of the client with one to the extension server, once that has agreed to the protocol. */
async function passUpgrade(
  request: ProxiedRequest,
  outgoing: ClientRequest,
  longRunning: LongRunning,
): Promise<Outcome> {
  const { reply, signal } = request
  const cancel = (): void => void outgoing.destroy()
  signal.addEventListener('abort', cancel)
  const answer = await new Promise<{ response: IncomingMessage; connection?: Duplex; head?: Buffer }>(
    (resolve, reject) => {
      outgoing.on('upgrade', (response, connection, head) => resolve({ response, connection, head }))
      outgoing.on('response', response => resolve({ response }))
      outgoing.on('error', reject)
      outgoing.end()
    },
  )
  const { response, connection, head } = answer
  if (!connection || !head) {
    const { statusCode = 0 } = response
    // An error is passed on; anything else than an error or another protocol is none of the two.
    if (statusCode >= 400) return passBack(request, response)
    response.destroy()
    return refuse(request, `invalid upgrade response: status code ${statusCode}`)
  }
  const client = reply.switchProtocols()
  if (!client) {
    connection.destroy()
    return 'done'
  }
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(response)}\r\n`, 'latin1')
  if (head.length > 0) client.write(head)
  join(client, connection, longRunning)
  return 'streaming'
}

function headerLines({ rawHeaders }: IncomingMessage): string {
  let lines = ''
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) lines += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  return lines
}

/** When one side ends, so does the other. */
function join(client: Duplex, server: Duplex, { streams, ended }: LongRunning): void {
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    streams.delete(end)
    client.destroy()
    server.destroy()
    ended()
  }
  streams.add(end)
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('error', end)
    from.on('close', end)
    from.pipe(to)
  }
}
