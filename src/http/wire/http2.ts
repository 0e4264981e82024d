// HTTP/2 on sockets that a listener accepts. The protocol itself is in the folder `http2`: Node's own module spends most of
// the time of a small request on its streams, and writes each response by itself.

import type { Socket } from 'node:net'
import { INTERNAL_ERROR } from '../../base/http2/frames.js'
import type { Exchange } from './exchange.js'
import { Connection } from './http2/connection.js'
import type { Reader, SlowReaders } from './slow-readers.js'

export interface Http2Options {
  readonly maxStreams: number
  readonly maxHeaderBytes: number
  readonly maxHeaders: number
  /** How often a connection is pinged; it is closed after two pings without an answer. */
  readonly pingMs: number
  /** How long a connection without requests is kept. */
  readonly idleMs: number
  /** Called for the first request on a connection. */
  readonly onFirstRequest?: ((socket: Pick<Socket, 'remoteAddress' | 'remotePort'>) => void) | undefined
  readonly readers?: SlowReaders | undefined
  /** Answers a request whose headers are larger than `maxHeaderBytes`. */
  readonly refuseLargeHeaders: (exchange: Exchange) => void
}

export interface Http2Endpoint {
  accept(socket: Socket): void
  /** Accepts no new streams; connections close when their streams have ended. */
  close(): void
  /** Ends the streams whose body has not arrived. */
  destroyUnsent(): void
  destroy(): void
}

/** Serves HTTP/2 on sockets that it gets by `accept`; it does not listen itself. */
export function createHttp2(options: Http2Options, handle: (exchange: Exchange) => void): Http2Endpoint {
  const { maxStreams, maxHeaderBytes, maxHeaders, onFirstRequest, readers, refuseLargeHeaders } = options
  const connections = new Set<Connection>()

  function accept(socket: Socket): void {
    let isNew = true
    const connection = new Connection(socket, {
      maxStreams,
      maxHeaderBytes,
      maxHeaders,
      refuseLargeHeaders,
      onRequest(stream) {
        if (isNew) onFirstRequest?.(socket)
        isNew = false
        handle(stream)
      },
      onClose() {
        connections.delete(connection)
        clearInterval(timer)
        remove?.()
      },
    })
    connections.add(connection)
    const remove = readers?.add(readerOf(connection))
    const timer = monitor(connection, options)
  }

  return {
    accept,
    close() {
      for (const connection of connections) connection.close()
    },
    destroyUnsent() {
      for (const connection of connections) {
        for (const stream of connection.streams.values()) {
          if (!stream.isRemoteClosed) connection.reset(stream, INTERNAL_ERROR)
        }
      }
    },
    destroy() {
      for (const connection of connections) connection.destroy()
    },
  }
}

/** Bounds what is held for a client that does not read. */
function readerOf(connection: Connection): Reader {
  const marks = new WeakMap<object, { sent: number; since: number }>()
  return {
    get held() {
      return connection.held
    },
    get sent() {
      return connection.sent
    },
    /** A client may read some streams and leave others: those are ended by themselves. */
    cutStalled(now, stallMs) {
      for (const stream of connection.streams.values()) {
        if (stream.pending === 0) continue
        const before = marks.get(stream)
        if (before?.sent !== stream.sentBytes) marks.set(stream, { sent: stream.sentBytes, since: now })
        else if (now - before.since >= stallMs) connection.reset(stream, INTERNAL_ERROR)
      }
    },
    cut: () => connection.destroy(),
  }
}

/** Closes connections whose client has disappeared, and those that are not used. */
function monitor(connection: Connection, { pingMs, idleMs }: Http2Options): NodeJS.Timeout {
  let idle = 0
  let requests = 0
  const timer = setInterval(() => {
    // A connection is idle if it has no request now, and had none since the last look.
    const isIdle = connection.streams.size === 0 && connection.requests === requests
    requests = connection.requests
    idle = isIdle ? idle + pingMs : 0
    if (idle >= idleMs) connection.close()
    else if (connection.unansweredPings >= 2) connection.destroy()
    else connection.ping()
  }, pingMs)
  return timer.unref()
}
