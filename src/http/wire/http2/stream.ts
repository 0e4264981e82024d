// One stream of a connection: a request and its response.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import {
  FLOW_CONTROL_ERROR,
  INTERNAL_ERROR,
  NO_ERROR,
  PROTOCOL_ERROR,
  STREAM_CLOSED,
} from '../../../base/http2/frames.js'
import type { HeaderFields } from '../../../base/http2/hpack-encoder.js'
import { type BodyBuffer, createBodyBuffer } from '../body-buffer.js'
import {
  ANSWERED,
  BodyTooLarge,
  type Exchange,
  type OnBytes,
  type Outgoing,
  type Peer,
  RequestCutShort,
  splitTarget,
} from '../exchange.js'

/** What a stream needs of its connection. */
export interface StreamHost {
  readonly peer: Peer
  /** Sends the header of the response. `isWhole`: nothing follows it. */
  respond(stream: Stream, status: number, headers: HeaderFields, isWhole: boolean): void
  /** The stream has something to send, or has ended. */
  ready(stream: Stream): void
  /** Bytes of the body were used, so that the client may send as many more. */
  consumed(stream: Stream, bytes: number): void
  /** Ends the stream at once. */
  reset(stream: Stream, code: number): void
}

/** Above it, `write` asks its caller to wait; `onDrain` is called when it is below half of that. */
const HIGH_WATER = 128 * 1024

const NOTHING = Buffer.alloc(0)

/** A class, since one is made for every request. */
export class Stream implements Exchange, Outgoing {
  readonly method: string
  readonly path: string
  readonly query: string
  /** How many bytes of DATA the client accepts. */
  sendWindow: number
  /** How many bytes of DATA the client may send. */
  receiveWindow: number
  /** Bytes of the body that were used and that the client does not know of. */
  unacknowledged = 0
  /** The client has sent everything. */
  isRemoteClosed = false
  gone = false

  // — the response
  isResponded = false
  /** Nothing more will be written. */
  isEnded = false
  /** The end of the response is on its way. */
  isEndSent = false
  /** What is written and not sent. The first `offset` bytes of the first chunk are sent already. */
  readonly chunks: Buffer[] = []
  offset = 0
  pending = 0
  retained = 0
  /** Among the streams that the connection is to send. */
  isQueued = false
  sentBytes = 0
  private needsDrain = false
  private drainListener: (() => void) | undefined
  private goneListeners: (() => void)[] | undefined

  // — the body
  private collector: Collector | undefined
  /** What has come before the body was wanted. */
  private received: BodyBuffer | undefined
  private receivedBytes = 0
  private declaredLength = -1
  private isBodyDropped = false
  /** Where the body is passed on to as it arrives. */
  private pipe: Outgoing | undefined
  /** Bytes that were passed on, and for which the client gets no room before `pipe` has drained. */
  private undrained = 0

  constructor(
    readonly id: number,
    readonly headers: IncomingHttpHeaders,
    readonly rawHeaders: readonly string[],
    private readonly host: StreamHost,
    sendWindow: number,
    receiveWindow: number,
  ) {
    this.sendWindow = sendWindow
    this.receiveWindow = receiveWindow
    this.method = (headers[':method'] as string | undefined) ?? 'GET'
    const { path, query } = splitTarget((headers[':path'] as string | undefined) ?? '/')
    this.path = path
    this.query = query
    const length = headers['content-length']
    if (length !== undefined) this.declaredLength = Number(length)
  }

  get held(): number {
    return this.pending + this.retained
  }

  get peer(): Peer {
    return this.host.peer
  }

  onGone(listener: () => void): void {
    if (this.goneListeners) this.goneListeners.push(listener)
    else this.goneListeners = [listener]
  }

  // — the body

  body(limit: number, onBytes?: OnBytes): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.gone && !this.isRemoteClosed) return reject(new RequestCutShort('the request was cut short'))
      this.collector = { limit, onBytes, resolve, reject, body: createBodyBuffer() }
      const received = this.received
      this.received = undefined
      if (received) this.collect(received.take())
      if (this.isRemoteClosed) this.completeBody()
    })
  }

  pipeBody(to: Outgoing): void {
    if (this.gone && !this.isRemoteClosed) return to.abort()
    this.pipe = to
    to.onDrain(() => {
      const bytes = this.undrained
      this.undrained = 0
      if (bytes > 0 && !this.gone) this.host.consumed(this, bytes)
    })
    const received = this.received
    this.received = undefined
    if (received) this.passOn(received.take())
    if (this.isRemoteClosed) this.completeBody()
  }

  private passOn(chunk: Buffer): void {
    if (this.pipe!.write(chunk)) this.host.consumed(this, chunk.length)
    else this.undrained += chunk.length
  }

  /**
   * Counts a part of the body: `size` bytes against the window, `length` of the body itself. Answers the code of the
   * error if the client may not send it.
   */
  errorOf(size: number, length: number, isLast: boolean): number {
    if (this.isRemoteClosed) return STREAM_CLOSED
    this.receivedBytes += length
    if (this.declaredLength !== -1) {
      const missing = this.declaredLength - this.receivedBytes
      if (missing < 0 || (isLast && missing > 0)) return PROTOCOL_ERROR
    }
    // What comes after the response is counted by the connection alone.
    if (this.gone) return NO_ERROR
    this.receiveWindow -= size
    return this.receiveWindow < 0 ? FLOW_CONTROL_ERROR : NO_ERROR
  }

  /** A part of the body has come, and was counted. */
  receive(chunk: Buffer, isLast: boolean): void {
    if (chunk.length > 0) {
      if (this.collector) this.collect(chunk)
      else if (this.pipe) this.passOn(chunk)
      else (this.received ??= createBodyBuffer()).add(chunk)
    }
    if (isLast) {
      this.isRemoteClosed = true
      this.completeBody()
    }
  }

  private collect(chunk: Buffer): void {
    const collector = this.collector!
    this.host.consumed(this, chunk.length)
    if (this.isBodyDropped) return
    try {
      if (collector.body.size + chunk.length > collector.limit)
        throw new BodyTooLarge(`the body is over ${collector.limit} bytes`)
      collector.onBytes?.(chunk.length)
      collector.body.add(chunk)
    } catch (error) {
      // The response decides how the rest of the body is handled.
      this.isBodyDropped = true
      collector.body = createBodyBuffer()
      collector.reject(error)
    }
  }

  private completeBody(): void {
    const { collector } = this
    this.pipe?.end()
    if (!collector || this.isBodyDropped) return
    this.isBodyDropped = true
    collector.resolve(collector.body.take())
  }

  /** Bytes of the body that have come and were not used. */
  get unread(): number {
    return this.received?.size ?? 0
  }

  // — the response

  answer(status: number, headers: OutgoingHttpHeaders, body?: Buffer | string): void {
    if (this.gone || this.isResponded) return
    this.isResponded = true
    const bytes = body === undefined ? NOTHING : typeof body === 'string' ? Buffer.from(body) : body
    headers['content-length'] ??= bytes.length
    const isWhole = bytes.length === 0 || this.method === 'HEAD'
    this.isEnded = true
    if (!isWhole) this.queue(bytes)
    this.host.respond(this, status, headers, isWhole)
    this.host.ready(this)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Outgoing {
    if (this.gone || this.isResponded) return ANSWERED
    this.isResponded = true
    const isWhole = this.method === 'HEAD'
    if (isWhole) this.isEnded = true
    this.host.respond(this, status, headers, isWhole)
    return this
  }

  write(chunk: Buffer | string): boolean {
    if (this.gone || this.isEnded) return true
    this.queue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    this.host.ready(this)
    if (this.pending < HIGH_WATER) return true
    this.needsDrain = true
    return false
  }

  onDrain(listener: () => void): void {
    this.drainListener = listener
  }

  end(): void {
    if (this.gone || this.isEnded) return
    this.isEnded = true
    this.host.ready(this)
  }

  abort(): void {
    this.cut()
  }

  cut(): void {
    if (!this.gone) this.host.reset(this, INTERNAL_ERROR)
  }

  private queue(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.chunks.push(chunk)
    this.pending += chunk.length
  }

  /** So many bytes were taken from `chunks`. */
  sent(bytes: number): void {
    this.pending -= bytes
    this.sentBytes += bytes
    this.sendWindow -= bytes
  }

  /** Called when the connection has sent something of the stream, outside of its own loops. */
  drain(): void {
    if (!this.needsDrain || this.pending > HIGH_WATER / 2) return
    this.needsDrain = false
    this.drainListener?.()
  }

  get waitsForDrain(): boolean {
    return this.needsDrain && this.pending <= HIGH_WATER / 2
  }

  /** The stream is over, whether its response is complete or not. */
  close(): void {
    if (this.gone) return
    this.gone = true
    this.chunks.length = 0
    this.pending = 0
    this.received = undefined
    if (this.collector && !this.isBodyDropped) {
      this.isBodyDropped = true
      this.collector.reject(new RequestCutShort('the request was cut short'))
    }
    if (!this.isRemoteClosed) this.pipe?.abort()
    const listeners = this.goneListeners
    this.goneListeners = undefined
    if (listeners) for (const listener of listeners) listener()
  }
}

interface Collector {
  readonly limit: number
  readonly onBytes: OnBytes | undefined
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: unknown) => void
  body: BodyBuffer
}
