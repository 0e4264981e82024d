// One HTTP/2 connection to one member: made, watched over, and given up when nobody answers at its other end.
import { type ClientHttp2Session, connect } from 'node:http2'

/** PEM texts. Without a `ca` those that Node trusts are trusted. */
export interface TlsOptions {
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
}

export interface Connection {
  readonly endpoint: string
  readonly session: ClientHttp2Session
  /** False once it is closed, or about to be: no call may begin on it. */
  readonly usable: boolean
  /** Note that a call or stream begins, and that it ended: an idle connection is left in peace. */
  begin(): void
  finish(): void
  /** Note that something came from the other end. */
  readonly sign: () => void
  /** Begins no more calls; goes when the last one is over. */
  retire(): void
  /** Goes at once. */
  destroy(): void
}

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined
  /** How long until a connection must stand. */
  readonly connectTimeoutMs: number
  /** Gives up connecting. */
  readonly signal?: AbortSignal | undefined
}

const TICK_MS = 500
/** So long a silence is normal while a call waits; then we ask whether anybody is there. */
const SILENT_TICKS = 2
/** So long the answer to that may take. */
const ANSWER_TICKS = 4
/** gRPC servers hang up on those who ask more often than every five seconds. */
const PING_PAUSE_MS = 6_000

/** A stream may have so much under way before its reader takes any of it: this bounds what a paused watch holds. */
const STREAM_WINDOW_BYTES = 1024 * 1024
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024

/** What may wait to be sent or read. By default Node takes no new stream beyond 10, a few large values at once. */
const SESSION_MEMORY_MB = 1024

/** Connects; answers when the other end has said its first word, so that a stopped process does not count as there. */
export function openConnection(endpoint: string, options: ConnectionOptions): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const session = connect(endpoint, {
      ...options.tls,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      // Where the peer names no limit there is none; Node would begin with 100 streams, which watches fill up for good.
      peerMaxConcurrentStreams: 2 ** 32 - 1,
      maxSessionMemory: SESSION_MEMORY_MB,
    })
    const connection = watchOver(endpoint, session)
    const timer = setTimeout(() => giveUp(new Error('nobody answered in time')), options.connectTimeoutMs)
    timer.unref()

    const onAbort = () => giveUp(new Error('the store was closed'))
    options.signal?.addEventListener('abort', onAbort)

    function leave(): void {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
    }

    function giveUp(error: Error): void {
      leave()
      reject(error)
      session.destroy()
    }

    session.once('error', giveUp)
    session.once('close', () => giveUp(new Error('the connection was closed')))
    session.once('remoteSettings', () => {
      leave()
      if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW_BYTES)
      resolve(connection)
    })
  })
}

function watchOver(endpoint: string, session: ClientHttp2Session): Connection {
  let usable = true
  let underWay = 0
  let silentTicks = 0
  /** Ticks since a question was sent that is not answered yet. */
  let requestedTicks: number | undefined
  let lastRequested = 0

  // Ticks are counted, not time, so that a pause of this process is not taken for one of the peer.
  const ticker = setInterval(() => {
    if (underWay === 0 && requestedTicks === undefined) return
    silentTicks++
    if (requestedTicks !== undefined) {
      if (++requestedTicks > ANSWER_TICKS) session.destroy()
    } else if (silentTicks > SILENT_TICKS && Date.now() - lastRequested >= PING_PAUSE_MS) ask()
  }, TICK_MS)
  ticker.unref()

  function ask(): void {
    if (session.destroyed) return
    requestedTicks = 0
    lastRequested = Date.now()
    session.ping(error => {
      if (!error) connection.sign()
    })
  }

  session.on('error', () => {}) // told by 'close'
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
    sign() {
      silentTicks = 0
      requestedTicks = undefined
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
