// HTTP/2 by Node's stream API, which costs half of what its request-and-response imitation of HTTP/1.1 does.
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { collect, type Exchange, type Outgoing, peerOf, splitTarget } from './exchange.js'

export interface Http2Options {
  readonly maxStreams: number
  readonly maxHeaderBytes: number
  /** How often a quiet connection is asked whether it is still there; twice without an answer ends it. */
  readonly pingMs: number
}

/** Takes sockets that speak HTTP/2 by `emit('connection', socket)`; it does not listen itself. */
export function createHttp2(options: Http2Options, handle: (exchange: Exchange) => void): Http2Endpoint {
  const sessions = new Set<ServerHttp2Session>()
  const server: Http2Server = createServer({
    settings: { maxConcurrentStreams: options.maxStreams, maxHeaderListSize: options.maxHeaderBytes },
    maxSessionMemory: 256,
    // A client that opens and resets streams without end is cut off by Node itself.
  })
  server.on('session', session => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
    watchOver(session, options.pingMs)
  })
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    const { path, query } = splitTarget(headers[':path'] ?? '/')
    stream.on('error', () => {}) // the peer's resets; `gone` tells
    handle(exchangeOf(stream, headers[':method'] ?? 'GET', path, query, headers))
  })
  return {
    accept: socket => void server.emit('connection', socket),
    close() {
      for (const session of sessions) session.close()
    },
    destroy() {
      for (const session of sessions) session.destroy()
    },
  }
}

export interface Http2Endpoint {
  accept(socket: unknown): void
  /** Takes no new streams; connections end when their streams have. */
  close(): void
  destroy(): void
}

function exchangeOf(
  stream: ServerHttp2Stream,
  method: string,
  path: string,
  query: string,
  headers: Exchange['headers'],
): Exchange {
  const isHead = method === 'HEAD'
  return {
    method,
    path,
    query,
    headers,
    peer: peerOf(stream.session?.socket),
    get gone() {
      return stream.destroyed || stream.closed
    },
    onGone: listener => void stream.once('close', listener),
    body: limit => collect(stream, limit),
    answer(status, responseHeaders, body) {
      if (stream.destroyed || stream.headersSent) return
      responseHeaders['content-length'] ??= body === undefined ? 0 : Buffer.byteLength(body)
      responseHeaders[':status'] = status
      const empty = body === undefined || isHead
      stream.respond(responseHeaders, { endStream: empty })
      if (!empty) stream.end(body)
      dropRest(stream)
    },
    begin(status, responseHeaders): Outgoing {
      responseHeaders[':status'] = status
      if (!stream.destroyed) stream.respond(responseHeaders, { endStream: isHead })
      return {
        write: chunk => stream.destroyed || stream.writableEnded || stream.write(chunk),
        onDrain: listener => void stream.on('drain', listener),
        end: () => void stream.end(),
        abort: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      }
    },
  }
}

/** A client that still sends after it has its answer is told to stop, instead of being listened to. */
function dropRest(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.endAfterHeaders) return
  stream.resume()
  stream.once('finish', () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
  })
}

/** Finds connections whose other end is gone without a word. */
function watchOver(session: ServerHttp2Session, pingMs: number): void {
  let unanswered = 0
  const timer = setInterval(() => {
    if (session.destroyed) return
    if (unanswered >= 2) session.destroy()
    else {
      unanswered++
      session.ping(error => {
        if (!error) unanswered = 0
      })
    }
  }, pingMs)
  timer.unref()
  session.once('close', () => clearInterval(timer))
}
