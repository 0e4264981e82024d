// The client side of gRPC over node:http2: unary calls, bidirectional streams, deadlines, and the final status. It is
// independent of etcd.
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
 * The stage at which a call failed:
 * - `unsent`: the peer certainly did not process it;
 * - `lost`: it was sent, and no response arrived;
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
  /** The time limit for the response. */
  readonly timeoutMs: number
  /** Called whenever data arrives from the peer. */
  readonly onActivity: () => void
}

/** The headers of a call; they can be reused for many calls. */
export function callHeaders(path: string, metadata: Readonly<Record<string, string>> = {}): OutgoingHttpHeaders {
  return { ':method': 'POST', ':path': path, te: 'trailers', 'content-type': 'application/grpc', ...metadata }
}

/** Sends one message, given as a frame, and resolves with the message of the response. */
export function unary(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  frame: Buffer,
  options: CallOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const size = frame.length - FRAME_HEAD_BYTES
    if (size > MAX_SENT_BYTES) return reject(tooLarge(size))
    const stream = openStream(session, headers)
    const chunks: Buffer[] = []
    let status: GrpcError | undefined | 'none' = 'none'
    let ended = false
    let done = false

    // A process that was paused or busy for that long may have the answer already, but has not read it.
    const timer = setTimeout(() => setImmediate(giveUp), options.timeoutMs)

    function giveUp(): void {
      if (done) return
      fail(new GrpcError(GrpcCode.deadlineExceeded, 'no answer came in time', progressOf(stream)))
      stream.close(constants.NGHTTP2_CANCEL)
    }

    function fail(error: GrpcError): void {
      if (done) return
      done = true
      clearTimeout(timer)
      reject(error)
    }

    function finish(): void {
      if (done || status === 'none' || !ended) return
      if (status) return fail(status)
      try {
        resolve(onlyMessage(chunks))
        done = true
        clearTimeout(timer)
      } catch (cause) {
        fail(new GrpcError(GrpcCode.internal, String(cause), 'lost', cause))
      }
    }

    stream.on('response', first => {
      options.onActivity()
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
    stream.on('error', () => {}) // handled on close
    stream.on('close', () => {
      if (done) return
      if (status !== 'none' && status) fail(status)
      else fail(brokenStream(stream))
    })
    stream.end(frame)
  })
}

/** etcd's own client sends no larger messages. */
const MAX_SENT_BYTES = 2 * 1024 * 1024
/** A flag and the length of the message. */
const FRAME_HEAD_BYTES = 5

function tooLarge(size: number): GrpcError {
  const text = `trying to send message larger than max (${size} vs. ${MAX_SENT_BYTES})`
  return new GrpcError(GrpcCode.resourceExhausted, `rpc error: code = ResourceExhausted desc = ${text}`, 'answered')
}

export interface StreamSink {
  /** A message from the peer. */
  message(message: Buffer): void
  /** The stream has ended. Not called after `close()`. */
  end(error: GrpcError): void
}

export interface DuplexStream {
  send(frame: Buffer): void
  /** Stops reading from the network. Data that has already arrived may still be delivered. */
  pause(): void
  resume(): void
  close(): void
}

/** Opens a stream on which both sides send any number of messages. */
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
    options.onActivity()
    status = refusalIn(first)
  })
  stream.on('data', (chunk: Buffer) => {
    if (over) return
    options.onActivity()
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
  // Our side may stay open, so an orderly end is the peer's `end` event.
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
      stream.resume() // a paused stream would never close
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

/** The error of the final status; undefined if the call succeeded. */
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

/** The error in the initial headers, if any: an immediate status without a message, or a response that is not gRPC. */
function refusalIn(headers: IncomingHttpHeaders & { readonly ':status'?: number | undefined }): GrpcError | undefined {
  if (headers['grpc-status'] !== undefined) return statusIn(headers)
  if (headers[':status'] === 200) return undefined
  return new GrpcError(GrpcCode.unavailable, `the peer answered with HTTP status ${headers[':status']}`, 'lost')
}

/** The error of a stream that was closed without a status. */
function brokenStream(stream: ClientHttp2Stream): GrpcError {
  const progress = progressOf(stream)
  const what = progress === 'unsent' ? 'the call was not taken' : 'the connection broke before the answer came'
  return new GrpcError(GrpcCode.unavailable, what, progress)
}

/** A stream without an id was never sent; a refused one (also by GOAWAY) was not processed by the peer. */
function progressOf(stream: ClientHttp2Stream): CallProgress {
  return stream.id === undefined || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? 'unsent' : 'lost'
}

/** The value of the `grpc-timeout` header. It is for the peer; this client has its own timer. */
export function grpcTimeout(ms: number): string {
  return `${Math.min(Math.max(1, Math.ceil(ms / 1000)), 99_999_999)}S`
}

export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
