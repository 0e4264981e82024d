// HTTP/2 by Node's stream API, which takes half the time of its compatibility API.
import type { OutgoingHttpHeaders } from 'node:http'
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { ANSWERED, collect, type Exchange, type Outgoing, type Peer, peerOf, splitTarget } from './exchange.js'

export interface Http2Options {
  readonly maxStreams: number
  readonly maxHeaderBytes: number
  /** How often a connection is pinged; it is closed after two pings without an answer. */
  readonly pingMs: number
}

/** Serves HTTP/2 on sockets that it gets by `accept`; it does not listen itself. */
export function createHttp2(options: Http2Options, handle: (exchange: Exchange) => void): Http2Endpoint {
  const sessions = new Set<ServerHttp2Session>()
  /** Streams whose body has not arrived yet. */
  const arriving = new Set<ServerHttp2Stream>()
  const server: Http2Server = createServer({
    settings: { maxConcurrentStreams: options.maxStreams, maxHeaderListSize: options.maxHeaderBytes },
    // By default 128. A field counts as at least 32 bytes, so the size is the limit that is reached first; a stream
    // beyond it is reset. `checkHeaders` refuses requests with too many fields.
    maxHeaderListPairs: options.maxHeaderBytes / 32,
    maxSessionMemory: 256,
    // Node itself cuts off a client that opens and resets streams without end.
  })
  server.on('session', session => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
    monitor(session, options.pingMs)
  })
  server.on('sessionError', () => {})
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
      const { path, query } = splitTarget(headers[':path'] ?? '/')
      stream.on('error', ignore) // resets by the client; see `gone`
      if (!stream.endAfterHeaders) {
        arriving.add(stream)
        const remove = (): void => void arriving.delete(stream)
        stream.once('end', remove)
        stream.once('close', remove)
      }
      stream.on('aborted', destroyNext)
      handle(new Http2Exchange(stream, headers[':method'] ?? 'GET', path, query, headers, rawHeaders))
    },
  )
  return {
    accept: socket => void server.emit('connection', socket),
    close() {
      for (const session of sessions) session.close()
    },
    destroyUnsent() {
      for (const stream of arriving) stream.destroy()
    },
    destroy() {
      for (const session of sessions) session.destroy()
    },
  }
}

export interface Http2Endpoint {
  accept(socket: unknown): void
  /** Accepts no new streams; connections close when their streams have ended. */
  close(): void
  /** Ends the streams whose body has not arrived. */
  destroyUnsent(): void
  destroy(): void
}

const ignore = (): void => {}

/** A stream that the client has reset is not closed while data wait to be sent, so that it must be destroyed. */
function destroyNext(this: ServerHttp2Stream): void {
  process.nextTick(() => this.destroy())
}

/** A class, since one is made for every request. */
class Http2Exchange implements Exchange {
  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly method: string,
    readonly path: string,
    readonly query: string,
    readonly headers: Exchange['headers'],
    readonly rawHeaders: readonly string[],
  ) {}

  get peer(): Peer {
    return peerOf(this.stream.session)
  }

  get gone(): boolean {
    return this.stream.destroyed || this.stream.closed
  }

  onGone(listener: () => void): void {
    this.stream.once('close', listener)
  }

  body(limit: number): Promise<Buffer> {
    return collect(this.stream, limit)
  }

  answer(status: number, headers: OutgoingHttpHeaders, body?: Buffer | string): void {
    const { stream } = this
    if (stream.destroyed || stream.headersSent) return
    headers['content-length'] ??= body === undefined ? 0 : Buffer.byteLength(body)
    headers[':status'] = status
    const isEmpty = body === undefined || this.method === 'HEAD'
    stream.respond(headers, { endStream: isEmpty })
    if (!isEmpty) stream.end(body)
    dropRest(stream)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Outgoing {
    const { stream } = this
    if (stream.destroyed || stream.headersSent) return ANSWERED
    headers[':status'] = status
    stream.respond(headers, { endStream: this.method === 'HEAD' })
    return {
      write: chunk => stream.destroyed || stream.writableEnded || stream.write(chunk),
      onDrain: listener => void stream.on('drain', listener),
      end: () => void stream.end(),
      abort: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    }
  }

  cut(): void {
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}

/** Stops a client that still sends its body after the response. */
function dropRest(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.endAfterHeaders) return
  stream.resume()
  stream.once('finish', () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
  })
}

/** Closes connections whose client has disappeared. */
function monitor(session: ServerHttp2Session, pingMs: number): void {
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
