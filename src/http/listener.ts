// Listens on one address and hands each request to one handler as an Exchange: HTTP/2 and HTTP/1.1 over TLS, as the
// client chooses, or HTTP/1.1 in the clear. Closing waits for the requests under way.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { MAX_HEADER_BYTES, MAX_HEADERS, tooLargeHeaders } from './filters/header-limit.js'
import { answerUnreadable } from './filters/unreadable.js'
import type { Exchange } from './wire/exchange.js'
import { exchangeOfHttp1 } from './wire/http1.js'
import { refuseMalformed } from './wire/http1-checks.js'
import { createHttp2 } from './wire/http2.js'
import { createNamedServers } from './wire/named-servers.js'
import { createNewConnections } from './wire/new-connections.js'
import { createRequestOrder } from './wire/request-order.js'
import { createSlowReaders, type Reader, type SlowReaders } from './wire/slow-readers.js'
import { secureOptions, type TlsCertificates, type TlsOptions } from './wire/tls-options.js'
import { ignoreData, serveUpgrades } from './wire/upgrades.js'
import { exchangeOfUpgrade } from './wire/websocket.js'

export { createSlowReaders, type SlowReaders, type TlsCertificates, type TlsOptions }

export interface ListenOptions {
  readonly address: string
  /** 0 takes any free port. */
  readonly port: number
  /** Without it, plain http is served. */
  readonly tls?: TlsOptions | undefined
  /** Bounds what is held for clients that do not read. */
  readonly readers?: SlowReaders | undefined
  /** Neither the listener nor its connections keep the process alive. */
  readonly unref?: boolean | undefined
}

export interface Listener {
  readonly url: string
  readonly port: number
  /** Presents other certificates, and accepts other clients, on connections that are opened from now on. Throws if they are none. */
  setCertificates(certificates: TlsCertificates): void
  /**
   * Accepts no new requests. Resolves when those that are being served are answered, or after the grace period. A
   * request whose body does not arrive soon is cut off.
   */
  close(graceMs?: number): Promise<void>
}

const MAX_STREAMS = 1000
const PING_MS = 30_000
const GRACE_MS = 10_000
/** How long a stop waits for bodies that clients have begun to send. */
const UNSENT_GRACE_MS = 1_000
const SWEEP_MS = 20
/** How long a connection of HTTP/1.1 is kept for the next request, as by kube-apiserver. */
const KEEP_ALIVE_MS = 90_000
/** How long a client has for the header of a request, as by kube-apiserver. */
const HEADERS_MS = 32_000
const HANDSHAKE_MS = 10_000
const MAX_CONNECTIONS = 16_384

export async function listen(options: ListenOptions, handle: (exchange: Exchange) => void): Promise<Listener> {
  const maxStreams = options.tls?.maxStreams ?? MAX_STREAMS
  const { readers } = options
  const newConnections = createNewConnections()
  const http2 = createHttp2(
    {
      maxStreams,
      maxHeaderBytes: MAX_HEADER_BYTES,
      maxHeaders: MAX_HEADERS,
      pingMs: PING_MS,
      idleMs: KEEP_ALIVE_MS,
      onFirstRequest: newConnections.served,
      readers,
      refuseLargeHeaders,
    },
    handle,
  )
  const tls = options.tls && tlsServer(options.tls, http2.accept)
  const server = tls?.server ?? createServer({ maxHeaderSize: MAX_HEADER_BYTES })
  // With a limit, Node drops the fields beyond it. All are read, and `checkHeaders` refuses a request with too many.
  server.maxHeadersCount = 0
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.headersTimeout = HEADERS_MS
  server.maxConnections = MAX_CONNECTIONS
  /** The last response on each connection of HTTP/1.1; none once it speaks another protocol. */
  const responses = new Map<Duplex, ServerResponse | undefined>()
  /** What is served on each of them. */
  const exchanges = new Map<Duplex, Exchange>()
  server.on('clientError', (error, socket) => {
    // Nothing can be sent in the middle of another response.
    if (responses.get(socket)?.writableEnded === false) socket.destroy()
    else answerUnreadable(error, socket)
  })
  /** Requests of HTTP/1.1 whose body has not arrived yet. */
  const arriving = new Set<IncomingMessage>()
  const inOrder = createRequestOrder()
  const serve = (request: IncomingMessage, response: ServerResponse, continues: boolean): void => {
    begin(request.socket, response)
    if (hasBody(request)) {
      arriving.add(request)
      const remove = (): void => void arriving.delete(request)
      request.once('end', remove)
      request.once('close', remove)
    }
    inOrder(request.socket, response, () => {
      const exchange = exchangeOfHttp1(request, response, continues)
      exchanges.set(request.socket, exchange)
      if (!refuseMalformed(request, response)) handle(exchange)
    })
  }
  server.on('request', (request, response) => serve(request, response, false))
  // The client waits with its body until it is asked for it.
  server.on('checkContinue', (request, response) => serve(request, response, true))
  /** A request of HTTP/1.1 begins. */
  function begin(socket: Socket, response: ServerResponse | undefined): void {
    if (!responses.has(socket)) {
      newConnections.served(socket)
      const remove = readers?.add(readerOf(socket, responses, exchanges))
      socket.once('close', () => {
        exchanges.delete(socket)
        responses.delete(socket)
        remove?.()
      })
    }
    responses.set(socket, response)
  }
  server.on('connection', socket => {
    if (!(server instanceof TlsServer && socket instanceof TLSSocket)) newConnections.add(socket)
    socket.setKeepAlive(true, PING_MS)
    if (options.unref) socket.unref()
  })
  const upgrades = serveUpgrades(server, {
    lastResponse: socket => responses.get(socket),
    serve(request, socket) {
      const exchange = exchangeOfUpgrade(request, socket)
      begin(request.socket, undefined)
      exchanges.set(request.socket, exchange)
      handle(exchange)
    },
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.address, resolve)
    if (options.unref) server.unref()
  })
  const { address, family, port } = server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${address}]` : address
  return {
    url: `${options.tls ? 'https' : 'http'}://${host}:${port}`,
    port,
    setCertificates: certificates => tls?.setCertificates(certificates),
    close: (graceMs = GRACE_MS) =>
      new Promise(resolve => {
        // A client that has stopped sending would hold up the stop until the end of the grace period.
        const cutUnsent = setTimeout(
          () => {
            http2.destroyUnsent()
            for (const request of arriving) request.socket.destroy()
            // What is left of HTTP/1.1 without a response has sent a part of its next request.
            for (const [socket, response] of responses) if (response?.writableEnded) socket.destroy()
          },
          Math.min(UNSENT_GRACE_MS, graceMs),
        )
        const cutOff = setTimeout(() => {
          http2.destroy()
          server.closeAllConnections()
          upgrades.destroy()
        }, graceMs)
        // A connection that a client keeps for its next request is idle only once the last one is answered.
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
        server.close(() => {
          clearTimeout(cutOff)
          clearTimeout(cutUnsent)
          clearInterval(sweep)
          resolve()
        })
        http2.close()
        newConnections.closeAll()
        server.closeIdleConnections()
      }),
  }
}

/** A connection of HTTP/1.1 and the response that is being sent on it. */
const readerOf = (
  socket: Socket,
  responses: ReadonlyMap<Duplex, ServerResponse | undefined>,
  exchanges: ReadonlyMap<Duplex, Exchange>,
): Reader => ({
  get held() {
    // That of a response contains that of its socket.
    const unsent = Math.max(socket.writableLength, responses.get(socket)?.writableLength ?? 0)
    return unsent + (exchanges.get(socket)?.held ?? 0)
  },
  get sent() {
    return socket.bytesWritten
  },
  cut: () => socket.destroy(),
})

function refuseLargeHeaders(exchange: Exchange): void {
  const { status } = tooLargeHeaders()
  exchange.answer(431, { 'content-type': 'application/json' }, JSON.stringify(status))
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

interface CertifiedServer {
  readonly server: Server
  setCertificates(certificates: TlsCertificates): void
}

/** An https server that passes connections on which the client chose HTTP/2 to `acceptHttp2`. */
function tlsServer(tls: TlsOptions, acceptHttp2: (socket: TLSSocket) => void): CertifiedServer {
  const common = {
    // A client without a valid certificate is not refused here: it may authenticate by a token.
    requestCert: tls.clientCa !== undefined,
    rejectUnauthorized: false,
    ALPNProtocols: tls.http2 === false ? ['http/1.1'] : ['h2', 'http/1.1'],
    handshakeTimeout: HANDSHAKE_MS,
  }
  const server = createTlsServer({ ...secureOptions(tls), ...common, maxHeaderSize: MAX_HEADER_BYTES })
  const [acceptTls] = server.listeners('connection')
  server.removeAllListeners('connection')
  const named = createNamedServers(
    socket => acceptTls?.call(server, socket),
    socket => server.emit('secureConnection', socket),
    HANDSHAKE_MS,
  )
  const setNamed = (certificates: TlsOptions): void => {
    const optionsOf = new Map(
      [...(certificates.named ?? new Map()).values()].map(pair => [
        pair,
        { ...secureOptions(certificates, pair), ...common },
      ]),
    )
    named.set(new Map([...(certificates.named ?? [])].map(([name, pair]) => [name, optionsOf.get(pair)!])))
  }
  setNamed(tls)
  server.on('connection', named.accept)
  const [acceptHttp1] = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', socket => {
    if (socket.alpnProtocol === 'h2') acceptHttp2(socket)
    else {
      acceptHttp1?.call(server, socket)
      // With a listener for data, Node's parser reads from the stream and not from the handle below it. A handle of TLS goes on
      // with what it has decrypted while the parser is paused, because an earlier response is not sent yet, and the
      // connection then ends with HPE_PAUSED.
      socket.on('data', ignoreData)
    }
  })
  server.on('tlsClientError', () => {})
  return {
    server,
    setCertificates(certificates) {
      const changed = { ...tls, ...certificates }
      const options = secureOptions(changed)
      setNamed(changed)
      server.setSecureContext(options)
    },
  }
}
