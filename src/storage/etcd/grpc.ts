// gRPC over node:http2, as much of it as a client needs: calls with one answer, streams in both directions, deadlines
// and the status at the end. It knows nothing of etcd.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { createFrameReader, onlyMessage } from './frames.js'

export const GrpcCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const

/**
 * How far a call came that failed:
 * - `unsent`: the peer surely did nothing for it;
 * - `lost`: it was sent, and no answer came;
 * - `answered`: the peer answered with this error.
 */
export type CallProgress = 'unsent' | 'lost' | 'answered'

export class GrpcError extends Error {
  override readonly name = 'GrpcError'

  constructor(
    readonly code: number,
    message: string,
    readonly progress: CallProgress,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

export interface CallOptions {
  /** How long to wait for the answer. */
  readonly timeoutMs: number
  /** Called whenever the peer showed that it is there. */
  readonly onSign: () => void
}

/** The headers that a call begins with; the same may serve for many. */
export function callHeaders(path: string, metadata: Readonly<Record<string, string>> = {}): OutgoingHttpHeaders {
  return { ':method': 'POST', ':path': path, te: 'trailers', 'content-type': 'application/grpc', ...metadata }
}

/** Sends one message, given as a frame, and answers with the one that comes back. */
export function unary(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  frame: Buffer,
  options: CallOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = openStream(session, headers)
    const chunks: Buffer[] = []
    let status: GrpcError | undefined | 'none' = 'none'
    let ended = false
    let settled = false

    const timer = setTimeout(() => {
      fail(new GrpcError(GrpcCode.deadlineExceeded, 'no answer came in time', progressOf(stream)))
      stream.close(constants.NGHTTP2_CANCEL)
    }, options.timeoutMs)

    function fail(error: GrpcError): void {
      if (settled) return
      settled = true
      clearTimeout(timer)
      reject(error)
    }

    function finish(): void {
      if (settled || status === 'none' || !ended) return
      if (status) return fail(status)
      try {
        resolve(onlyMessage(chunks))
        settled = true
        clearTimeout(timer)
      } catch (cause) {
        fail(new GrpcError(GrpcCode.internal, String(cause), 'lost', cause))
      }
    }

    stream.on('response', first => {
      options.onSign()
      const refused = refusalIn(first)
      if (refused) status = refused
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('trailers', trailers => {
      if (status === 'none') status = statusIn(trailers)
      finish()
    })
    stream.on('end', () => {
      ended = true
      finish()
    })
    stream.on('error', () => {}) // what matters of it is told on close
    stream.on('close', () => {
      if (settled) return
      if (status !== 'none' && status) fail(status)
      else fail(brokenStream(stream))
    })
    stream.end(frame)
  })
}

export interface StreamSink {
  /** A message from the peer. */
  message(message: Buffer): void
  /** The stream is over; nothing follows. Not called after `close()`. */
  end(error: GrpcError): void
}

export interface DuplexStream {
  send(frame: Buffer): void
  /** Takes no more from the network for now. What has arrived already may still be handed on. */
  pause(): void
  resume(): void
  close(): void
}

/** Opens a stream on which both sides send messages for as long as they like. */
export function duplex(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  options: Omit<CallOptions, 'timeoutMs'>,
  sink: StreamSink,
): DuplexStream {
  const stream = openStream(session, headers)
  let status: GrpcError | undefined
  let over = false

  function end(error: GrpcError): void {
    if (over) return
    over = true
    if (!stream.destroyed) stream.close(constants.NGHTTP2_CANCEL)
    sink.end(error)
  }

  const frames = createFrameReader(message => {
    if (!over) sink.message(message)
  })

  stream.on('response', first => {
    options.onSign()
    status = refusalIn(first)
  })
  stream.on('data', (chunk: Buffer) => {
    if (over) return
    options.onSign()
    try {
      frames.push(chunk)
    } catch (cause) {
      end(new GrpcError(GrpcCode.internal, String(cause), 'lost', cause))
    }
  })
  stream.on('trailers', trailers => {
    status ??= statusIn(trailers) ?? new GrpcError(GrpcCode.ok, 'the peer ended the stream', 'answered')
  })
  stream.on('error', () => {})
  // Our side may stay open, so that only the peer's end tells of an orderly one.
  stream.on('end', () => end(status ?? brokenStream(stream)))
  stream.on('close', () => end(status ?? brokenStream(stream)))

  return {
    send: frame => {
      if (!over && stream.writable) stream.write(frame)
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close() {
      if (over) return
      over = true
      stream.close(constants.NGHTTP2_CANCEL)
      stream.resume() // a paused stream would never come to its end
    },
  }
}

function openStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  try {
    return session.request(headers)
  } catch (cause) {
    throw new GrpcError(GrpcCode.unavailable, 'the connection is closed', 'unsent', cause)
  }
}

/** The status that ends a call; nothing when all went well. */
export function statusIn(headers: IncomingHttpHeaders): GrpcError | undefined {
  const text = headers['grpc-status']
  if (text === '0') return undefined
  const code = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : GrpcCode.unknown
  const message = headers['grpc-message']
  return new GrpcError(
    code,
    typeof message === 'string' ? percentDecoded(message) : `status ${String(text)}`,
    'answered',
  )
}

/** What the first headers say, where they say no: a status at once without a message, or not gRPC at all. */
function refusalIn(headers: IncomingHttpHeaders & { readonly ':status'?: number | undefined }): GrpcError | undefined {
  if (headers['grpc-status'] !== undefined) return statusIn(headers)
  if (headers[':status'] === 200) return undefined
  return new GrpcError(GrpcCode.unavailable, `the peer answered with HTTP status ${headers[':status']}`, 'lost')
}

/** A stream that was closed without a status. */
function brokenStream(stream: ClientHttp2Stream): GrpcError {
  const progress = progressOf(stream)
  const what = progress === 'unsent' ? 'the call was not taken' : 'the connection broke before the answer came'
  return new GrpcError(GrpcCode.unavailable, what, progress)
}

/** A stream without a number was never sent; a refused one (also by GOAWAY) was not looked at by the peer. */
function progressOf(stream: ClientHttp2Stream): CallProgress {
  return stream.id === undefined || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? 'unsent' : 'lost'
}

/** A time limit as the header `grpc-timeout` has it, for the peer: we watch the clock ourselves. */
export function grpcTimeout(ms: number): string {
  return `${Math.min(Math.max(1, Math.ceil(ms / 1000)), 99_999_999)}S`
}

export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
