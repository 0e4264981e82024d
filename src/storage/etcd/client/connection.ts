// One HTTP/2 connection to one etcd member, which is closed when the peer stops responding.
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Dial } from '../../../base/dial.js'
import type { RequestFields } from '../../../base/http2/request-encoder.js'
import { ClientConnection } from './http2/client-connection.js'
import type { ClientStream, StreamSink } from './http2/client-stream.js'

/** PEM texts. Without `ca`, the certificate authorities that Node.js trusts are used. */
export interface TlsOptions {
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
}

export interface Connection {
  readonly endpoint: string
  /** Of the URLs of requests. */
  readonly scheme: 'http' | 'https'
  readonly authority: string
  /** False once it is closed or closing: no new call may begin on it. */
  readonly usable: boolean
  /** Begins a call; undefined if the connection is not usable. */
  open(fields: RequestFields, sink: StreamSink): ClientStream | undefined
  /** Called once, at once if it is closed already. */
  onClose(listener: () => void): void
  /** Refuses new calls and closes when the last running one has ended. */
  retire(): void
  /** Closes at once. */
  destroy(): void
}

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined
  /** How connections of the network are opened; directly by default. */
  readonly dial?: Dial | undefined
  /** The time limit for connecting. */
  readonly connectTimeoutMs: number
  /** Aborts connecting. */
  readonly signal?: AbortSignal | undefined
}

const TICK_MS = 500
/** Silence of this length is normal while a call waits; after it a ping is sent. */
const SILENT_TICKS = 2
/** The time limit for the answer to a ping. */
const ANSWER_TICKS = 4
/** gRPC servers close connections that ping more often than every five seconds. */
const PING_PAUSE_MS = 6_000

/** The path of `unix:///run/etcd.sock`; undefined for an endpoint of the network. */
const socketOf = (endpoint: string): string | undefined =>
  endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : undefined

/** Connects. Resolves when the peer has sent its settings, so that a stopped process does not count as connected. */
export async function openConnection(endpoint: string, options: ConnectionOptions): Promise<Connection> {
  const { dial, connectTimeoutMs, signal } = options
  if (dial === undefined || socketOf(endpoint) !== undefined) return begin(endpoint, options)
  const { protocol, hostname, port } = new URL(endpoint)
  const dialed = await dial(hostname.replace(/^\[(.*)\]$/, '$1'), Number(port || portOf(protocol)), connectTimeoutMs)
  if (signal?.aborted) {
    dialed.destroy()
    throw new Error('the store was closed')
  }
  return begin(endpoint, options, dialed)
}

const portOf = (protocol: string): number => (protocol === 'http:' ? 80 : 443)

/** `dialed`: a connection to the endpoint that is open already. */
function begin(endpoint: string, options: ConnectionOptions, dialed?: Socket): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const { socket, begun, ...names } = openSocket(endpoint, options.tls, dialed)
    const timer = setTimeout(() => fail(new Error('no answer came in time')), options.connectTimeoutMs)
    timer.unref()

    const onAbort = () => fail(new Error('the store was closed'))
    options.signal?.addEventListener('abort', onAbort)

    function leave(): void {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
    }

    function fail(error: Error): void {
      leave()
      reject(error)
      socket.destroy()
    }

    const onClosed = (): void => fail(new Error('the connection was closed'))
    socket.once('error', fail)
    socket.once('close', onClosed)
    const onBegun = (): void => {
      if (!speaksHttp2(socket)) return fail(new Error('the peer does not speak HTTP/2'))
      socket.off('error', fail)
      socket.off('close', onClosed)
      const connection = monitored(
        endpoint,
        names,
        socket,
        () => {
          leave()
          resolve(connection)
        },
        error => fail(error ?? new Error('the connection was closed')),
      )
    }
    if (begun === undefined) {
      onBegun()
      socket.resume()
    } else socket.once(begun, onBegun)
  })
}

/** A socket, and the event by which it is connected if it is not yet. */
function openSocket(endpoint: string, tls: TlsOptions | undefined, dialed: Socket | undefined) {
  const path = socketOf(endpoint)
  if (path !== undefined) {
    return { socket: connectPlain(path), begun: 'connect', scheme: 'http', authority: 'localhost' } as const
  }
  const { protocol, host: authority, hostname, port } = new URL(endpoint)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (protocol === 'http:') {
    if (dialed) return { socket: dialed, begun: undefined, scheme: 'http', authority } as const
    const socket = connectPlain({ host, port: Number(port || 80) })
    return { socket, begun: 'connect', scheme: 'http', authority } as const
  }
  const socket: Socket = connectTls({
    ...tls,
    ...(dialed ? { socket: dialed } : { host, port: Number(port || 443) }),
    ALPNProtocols: ['h2'],
    ...(isIP(host) === 0 && { servername: host }),
  })
  return { socket, begun: 'secureConnect', scheme: 'https', authority } as const
}

const speaksHttp2 = (socket: Socket & { readonly alpnProtocol?: string | false | null }): boolean =>
  socket.alpnProtocol === undefined || socket.alpnProtocol === 'h2'

/** The connection on a socket, which is closed when the peer is silent for too long. */
function monitored(
  endpoint: string,
  { scheme, authority }: Pick<Connection, 'scheme' | 'authority'>,
  socket: Socket,
  onReady: () => void,
  onFailed: (error: Error | undefined) => void,
): Connection {
  let silentTicks = 0
  /** Ticks since a ping was sent that is not answered yet. */
  let pingTicks: number | undefined
  let lastPing = Number.NEGATIVE_INFINITY
  const listeners: (() => void)[] = []

  const http2 = new ClientConnection(socket, {
    onReady,
    onActivity() {
      silentTicks = 0
      pingTicks = undefined
    },
    onClose(error) {
      clearInterval(ticker)
      onFailed(error)
      for (const listener of listeners) listener()
    },
  })

  // Ticks are counted, not time, so that a pause of this process is not mistaken for a silent peer.
  const ticker = setInterval(() => {
    if (http2.size === 0 && pingTicks === undefined) return
    silentTicks++
    if (pingTicks !== undefined) {
      if (++pingTicks > ANSWER_TICKS) http2.destroy(new Error('the peer does not respond'))
    } else if (silentTicks > SILENT_TICKS && performance.now() - lastPing >= PING_PAUSE_MS) ping()
  }, TICK_MS)
  ticker.unref()

  function ping(): void {
    pingTicks = 0
    lastPing = performance.now()
    http2.ping()
  }

  return {
    endpoint,
    scheme,
    authority,
    get usable() {
      return http2.isOpen
    },
    open(fields, sink) {
      // Before the first call, silence is normal.
      if (http2.size === 0) silentTicks = 0
      return http2.open(fields, sink)
    },
    onClose(listener) {
      if (http2.isOver) listener()
      else listeners.push(listener)
    },
    retire: () => http2.retire(),
    destroy: () => http2.destroy(),
  }
}
