// The client side of gRPC over HTTP/2: unary calls, bidirectional streams, deadlines, and the final status. It is
// independent of etcd.
import type { RequestFields } from '../../../base/http2/request-encoder.js'
import type { Connection } from './connection.js'
import { createFrameReader, MAX_MESSAGE_BYTES, onlyMessage } from './frames.js'
import type { ClientStream, StreamSink } from './http2/client-stream.js'

export const GrpcCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  aborted: 10,
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

/** The headers of a call at this peer; they can be used again for many calls. */
export function callHeaders(
  { scheme, authority }: Pick<Connection, 'scheme' | 'authority'>,
  path: string,
  metadata: Readonly<Record<string, string>> = {},
): RequestFields {
  const pseudo = [':method', 'POST', ':scheme', scheme, ':path', path, ':authority', authority]
  return [...pseudo, 'te', 'trailers', 'content-type', 'application/grpc', ...Object.entries(metadata).flat()]
}

/** Sends one message, given as a frame, and resolves with the message of the response. A longer one ends the call. */
export function unary(
  connection: Connection,
  fields: RequestFields,
  frame: Buffer,
  timeoutMs: number,
  maxBytes = MAX_MESSAGE_BYTES,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const size = frame.length - FRAME_HEAD_BYTES
    if (size > MAX_SENT_BYTES) return reject(tooLarge(size))
    const call = new UnaryCall(resolve, reject, maxBytes)
    const stream = connection.open(fields, call)
    if (!stream) return reject(connectionClosed())
    stream.write(frame, true)
    call.limit(stream, timeoutMs)
  })
}

/** A class, since one is made for every call. */
class UnaryCall implements StreamSink {
  private chunk: Buffer | undefined
  private more: Buffer[] | undefined
  private hasHeaders = false
  private status: GrpcError | undefined
  private timer: NodeJS.Timeout | undefined
  private stream: ClientStream | undefined
  private received = 0

  constructor(
    private readonly resolve: (message: Buffer) => void,
    private readonly reject: (error: unknown) => void,
    private readonly maxBytes: number,
  ) {}

  limit(stream: ClientStream, timeoutMs: number): void {
    this.stream = stream
    this.timer = setTimeout(giveUpSoon, timeoutMs, this, stream)
  }

  giveUp(stream: ClientStream): void {
    if (stream.isOver) return
    stream.cancel()
    this.reject(new GrpcError(GrpcCode.deadlineExceeded, 'no answer came in time', progressOf(stream)))
  }

  headers(fields: readonly string[], isEnd: boolean): void {
    if (!this.hasHeaders) {
      this.hasHeaders = true
      this.status = refusalIn(fields)
      if (isEnd) this.fail(this.status ?? brokenCall('lost'))
      return
    }
    const status = this.status ?? statusIn(fields)
    if (status) this.fail(status)
    else if (isEnd) this.complete()
  }

  data(bytes: Buffer, isEnd: boolean): void {
    this.received += bytes.length
    if (this.received > this.maxBytes + FRAME_HEAD_BYTES) {
      this.stream?.cancel()
      const text = `received message larger than max (${this.received} vs. ${this.maxBytes})`
      return this.fail(new GrpcError(GrpcCode.resourceExhausted, text, 'lost'))
    }
    if (!this.chunk) this.chunk = bytes
    else (this.more ??= [this.chunk]).push(bytes)
    // The status is missing.
    if (isEnd) this.fail(this.status ?? brokenCall('lost'))
  }

  broken(progress: 'unsent' | 'lost'): void {
    this.fail(this.status ?? brokenCall(progress))
  }

  private complete(): void {
    clearTimeout(this.timer)
    try {
      this.resolve(onlyMessage(this.more ?? (this.chunk ? [this.chunk] : [])))
    } catch (cause) {
      this.reject(new GrpcError(GrpcCode.internal, String(cause), 'lost', cause))
    }
  }

  private fail(error: GrpcError): void {
    clearTimeout(this.timer)
    this.reject(error)
  }
}

/** A process that was paused or busy for that long may have the answer already, but has not read it. */
function giveUpSoon(call: UnaryCall, stream: ClientStream): void {
  setImmediate(() => call.giveUp(stream))
}

/** etcd's own client sends no larger messages. */
const MAX_SENT_BYTES = 2 * 1024 * 1024
/** A flag and the length of the message. */
const FRAME_HEAD_BYTES = 5

function tooLarge(size: number): GrpcError {
  const text = `trying to send message larger than max (${size} vs. ${MAX_SENT_BYTES})`
  return new GrpcError(GrpcCode.resourceExhausted, `rpc error: code = ResourceExhausted desc = ${text}`, 'answered')
}

export interface MessageSink {
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
export function duplex(connection: Connection, fields: RequestFields, sink: MessageSink): DuplexStream {
  let hasHeaders = false
  let status: GrpcError | undefined
  let isOver = false

  function end(error: GrpcError): void {
    if (isOver) return
    isOver = true
    stream!.cancel()
    sink.end(error)
  }

  const frames = createFrameReader(message => {
    if (!isOver) sink.message(message)
  })

  const stream = connection.open(fields, {
    headers(received, isEnd) {
      if (!hasHeaders) status = refusalIn(received)
      else status ??= statusIn(received) ?? new GrpcError(GrpcCode.ok, 'the peer ended the stream', 'answered')
      hasHeaders = true
      if (isEnd) end(status ?? brokenCall('lost'))
    },
    data(bytes, isEnd) {
      if (isOver) return
      try {
        frames.push(bytes)
      } catch (cause) {
        return end(new GrpcError(GrpcCode.internal, String(cause), 'lost', cause))
      }
      if (isEnd) end(status ?? brokenCall('lost'))
    },
    broken: progress => end(status ?? brokenCall(progress)),
  })
  if (!stream) throw connectionClosed()

  return {
    send: frame => stream.write(frame),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close() {
      if (isOver) return
      isOver = true
      stream.cancel()
    },
  }
}

const connectionClosed = (): GrpcError => new GrpcError(GrpcCode.unavailable, 'the connection is closed', 'unsent')

/** The error of the final status; undefined if the call succeeded. */
export function statusIn(fields: readonly string[]): GrpcError | undefined {
  const text = valueOf(fields, 'grpc-status')
  if (text === '0') return undefined
  const code = text !== undefined && /^\d+$/.test(text) ? Number(text) : GrpcCode.unknown
  const message = valueOf(fields, 'grpc-message')
  return new GrpcError(code, message === undefined ? `status ${text}` : percentDecoded(message), 'answered')
}

/** The error in the initial headers, if any: an immediate status without a message, or a response that is not gRPC. */
function refusalIn(fields: readonly string[]): GrpcError | undefined {
  if (valueOf(fields, 'grpc-status') !== undefined) return statusIn(fields)
  const status = valueOf(fields, ':status')
  if (status === '200') return undefined
  return new GrpcError(GrpcCode.unavailable, `the peer answered with HTTP status ${status}`, 'lost')
}

function valueOf(fields: readonly string[], name: string): string | undefined {
  for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) return fields[i + 1]
  return undefined
}

/** The error of a call without a status. */
function brokenCall(progress: CallProgress): GrpcError {
  const what = progress === 'unsent' ? 'the call was not taken' : 'the connection broke before the answer came'
  return new GrpcError(GrpcCode.unavailable, what, progress)
}

/** A stream without a number was never sent. */
const progressOf = ({ id }: ClientStream): CallProgress => (id === 0 ? 'unsent' : 'lost')

/** The value of the `grpc-timeout` header. It is for the peer; this client has its own timer. */
export function grpcTimeout(ms: number): string {
  return `${Math.min(Math.max(1, Math.ceil(ms / 1000)), 99_999_999)}S`
}

export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
