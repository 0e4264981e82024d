// One HTTP/2 connection to one etcd member, which is closed when the peer stops responding.
import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as connectSocket } from 'node:net'

/** PEM texts. Without `ca`, the certificate authorities that Node.js trusts are used. */
export interface TlsOptions {
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
}

export interface Connection {
  readonly endpoint: string
  readonly session: ClientHttp2Session
  /** False once it is closed or closing: no new call may begin on it. */
  readonly usable: boolean
  /** Count the running calls and streams: only a connection with running calls is monitored. */
  begin(): void
  finish(): void
  /** Notes that data arrived from the peer. */
  readonly noteActivity: () => void
  /** Refuses new calls and closes when the last running one has ended. */
  retire(): void
  /** Closes at once. */
  destroy(): void
}

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined
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

/** How much a stream may receive before its reader takes any of it: bounds the memory of a paused watch. */
const STREAM_WINDOW_BYTES = 1024 * 1024
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024

/** The limit on data to be sent or read. With Node's default of 10 MB, a few large values block new streams. */
const SESSION_MEMORY_MB = 1024

/** The path of `unix:///run/etcd.sock`; undefined for an endpoint of the network. */
const socketOf = (endpoint: string): string | undefined =>
  endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : undefined

/** Connects. Resolves when the peer has sent its settings, so that a stopped process does not count as connected. */
export function openConnection(endpoint: string, options: ConnectionOptions): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = socketOf(endpoint)
    const session = connect(socket === undefined ? endpoint : 'http://localhost', {
      ...options.tls,
      ...(socket !== undefined && { createConnection: () => connectSocket(socket) }),
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      // A peer that sends no limit has none; Node would begin with 100 streams, which long watches use up.
      peerMaxConcurrentStreams: 2 ** 32 - 1,
      maxSessionMemory: SESSION_MEMORY_MB,
    })
    const connection = monitor(endpoint, session)
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
      session.destroy()
    }

    session.once('error', fail)
    session.once('close', () => fail(new Error('the connection was closed')))
    session.once('remoteSettings', () => {
      leave()
      if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW_BYTES)
      resolve(connection)
    })
  })
}

function monitor(endpoint: string, session: ClientHttp2Session): Connection {
  let usable = true
  let underWay = 0
  let silentTicks = 0
  /** Ticks since a ping was sent that is not answered yet. */
  let pingTicks: number | undefined
  let lastPing = Number.NEGATIVE_INFINITY

  // Ticks are counted, not time, so that a pause of this process is not mistaken for a silent peer.
  const ticker = setInterval(() => {
    if (underWay === 0 && pingTicks === undefined) return
    silentTicks++
    if (pingTicks !== undefined) {
      if (++pingTicks > ANSWER_TICKS) session.destroy()
    } else if (silentTicks > SILENT_TICKS && performance.now() - lastPing >= PING_PAUSE_MS) ping()
  }, TICK_MS)
  ticker.unref()

  function ping(): void {
    if (session.destroyed) return
    pingTicks = 0
    lastPing = performance.now()
    session.ping(error => {
      if (!error) connection.noteActivity()
    })
  }

  session.on('error', () => {}) // the 'close' event follows
  session.on('goaway', () => {
    usable = false
  })
  session.on('close', () => {
    usable = false
    clearInterval(ticker)
  })

  const connection: Connection = {
    endpoint,
    session,
    get usable() {
      return usable && !session.closed && !session.destroyed
    },
    begin() {
      if (underWay++ === 0) silentTicks = 0
    },
    finish() {
      underWay--
    },
    noteActivity() {
      silentTicks = 0
      pingTicks = undefined
    },
    retire() {
      usable = false
      if (!session.closed) session.close()
    },
    destroy() {
      usable = false
      session.destroy()
    },
  }
  return connection
}
