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
import type { Socket } from 'node:net'
import {
  ANSWERED,
  collect,
  type Exchange,
  type OnBytes,
  type Outgoing,
  type Peer,
  peerOf,
  splitTarget,
} from './exchange.js'
import type { Reader, SlowReaders } from './slow-readers.js'

export interface Http2Options {
  readonly maxStreams: number
  readonly maxHeaderBytes: number
  /** How often a connection is pinged; it is closed after two pings without an answer. */
  readonly pingMs: number
  /** How long a connection without requests is kept. */
  readonly idleMs: number
  /** Called for the first request on a connection. */
  readonly onFirstRequest?: ((socket: Pick<Socket, 'remoteAddress' | 'remotePort'>) => void) | undefined
  readonly readers?: SlowReaders | undefined
}

/** Serves HTTP/2 on sockets that it gets by `accept`; it does not listen itself. */
export function createHttp2(options: Http2Options, handle: (exchange: Exchange) => void): Http2Endpoint {
  const sessions = new Map<ServerHttp2Session, SessionReader>()
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
    const reader = new SessionReader(session)
    const remove = options.readers?.add(reader)
    sessions.set(session, reader)
    session.once('close', () => {
      sessions.delete(session)
      remove?.()
    })
    session.on('error', () => session.destroy())
    monitor(session, reader, options)
  })
  server.on('sessionError', () => {})
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
      const { path, query } = splitTarget(headers[':path'] ?? '/')
      const reader = stream.session && sessions.get(stream.session as ServerHttp2Session)
      if (reader?.begin(stream)) options.onFirstRequest?.(stream.session!.socket)
      stream.on('error', ignore) // resets by the client; see `gone`
      if (!stream.endAfterHeaders) {
        arriving.add(stream)
        const remove = (): void => void arriving.delete(stream)
        stream.once('end', remove)
        stream.once('close', remove)
      }
      stream.on('aborted', destroyNext)
      handle(new Http2Exchange(stream, headers[':method'] ?? 'GET', path, query, headers, rawHeaders, options.readers))
    },
  )
  return {
    accept: socket => void server.emit('connection', socket),
    close() {
      for (const session of sessions.keys()) session.close()
    },
    destroyUnsent() {
      for (const stream of arriving) stream.destroy()
    },
    destroy() {
      for (const session of sessions.keys()) session.destroy()
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

/** Responses that are shorter are not counted before they are seen. */
const LARGE = 64 * 1024

/** How often the client has read so much of a response that more could be written. */
const drains = new WeakMap<ServerHttp2Stream, number>()
function countDrain(this: ServerHttp2Stream): void {
  drains.set(this, (drains.get(this) ?? 0) + 1)
}

/** A connection and its open streams. */
class SessionReader implements Reader {
  private readonly streams = new Set<ServerHttp2Stream>()
  private readonly marks = new WeakMap<ServerHttp2Stream, { mark: string; since: number }>()
  private isNew = true

  constructor(private readonly session: ServerHttp2Session) {}

  /** True for the first one. */
  begin(stream: ServerHttp2Stream): boolean {
    this.streams.add(stream)
    stream.once('close', () => this.streams.delete(stream))
    const isFirst = this.isNew
    this.isNew = false
    return isFirst
  }

  get isIdle(): boolean {
    return this.streams.size === 0
  }

  get held(): number {
    let held = 0
    for (const { writableLength } of this.streams) held += writableLength
    return held
  }

  get sent(): number {
    return this.session.destroyed ? 0 : this.session.socket.bytesWritten
  }

  /** A client may read some streams and leave others: those are ended by themselves. */
  cutStalled(now: number, stallMs: number): void {
    for (const stream of this.streams) {
      if (stream.writableLength === 0) continue
      const mark = `${drains.get(stream) ?? 0} ${stream.writableLength}`
      const before = this.marks.get(stream)
      if (before?.mark !== mark) this.marks.set(stream, { mark, since: now })
      else if (now - before.since >= stallMs) stream.destroy()
    }
  }

  cut(): void {
    this.session.destroy()
  }
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
    private readonly readers: SlowReaders | undefined,
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

  body(limit: number, onBytes?: OnBytes): Promise<Buffer> {
    return collect(this.stream, limit, onBytes)
  }

  answer(status: number, headers: OutgoingHttpHeaders, body?: Buffer | string): void {
    const { stream } = this
    if (stream.destroyed || stream.headersSent) return
    headers['content-length'] ??= body === undefined ? 0 : Buffer.byteLength(body)
    headers[':status'] = status
    const isEmpty = body === undefined || this.method === 'HEAD'
    stream.respond(headers, { endStream: isEmpty })
    if (!isEmpty) {
      stream.end(body)
      if (body.length >= LARGE) this.readers?.grew(body.length)
    }
    dropRest(stream)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Outgoing {
    const { stream } = this
    if (stream.destroyed || stream.headersSent) return ANSWERED
    headers[':status'] = status
    stream.respond(headers, { endStream: this.method === 'HEAD' })
    stream.on('drain', countDrain)
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

/** Closes connections whose client has disappeared, and those that are not used. */
function monitor(session: ServerHttp2Session, reader: SessionReader, { pingMs, idleMs }: Http2Options): void {
  let unanswered = 0
  let idle = 0
  const timer = setInterval(() => {
    if (session.destroyed) return
    idle = reader.isIdle ? idle + pingMs : 0
    if (idle >= idleMs) session.close()
    else if (unanswered >= 2) session.destroy()
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
