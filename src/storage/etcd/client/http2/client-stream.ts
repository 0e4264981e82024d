// One stream of a client connection: a request, and what the other side answers.

import type { RequestFields } from '../../../../base/http2/request-encoder.js'

/** Takes what the other side sends on a stream. */
export interface StreamSink {
  /** Names and values alternating: first the headers, and after the data the trailers. `isEnd`: nothing follows. */
  headers(fields: readonly string[], isEnd: boolean): void
  data(bytes: Buffer, isEnd: boolean): void
  /**
   * The stream is over before the other side has ended it. `unsent`: the other side has certainly not processed it.
   * Not called after `cancel()`.
   */
  broken(progress: 'unsent' | 'lost'): void
}

/** What a stream needs of its connection. */
export interface StreamHost {
  send(stream: ClientStream): void
  /** Bytes of the stream were used, so that the other side may send as many more. */
  consumed(stream: ClientStream, bytes: number): void
  cancel(stream: ClientStream): void
}

/** A class, since one is made for every call. */
export class ClientStream {
  /** 0 until it is sent. */
  id = 0
  sendWindow = 0
  receiveWindow = 0
  unacknowledged = 0
  /** What is to be sent when the windows allow it. The first `offset` bytes of the first chunk are sent already. */
  readonly unsent: Buffer[] = []
  offset = 0
  /** Nothing more will be sent. */
  isEnded = false
  isEndSent = false
  isOver = false
  private isPaused = false
  /** What came while it was paused. */
  private readonly held: Buffer[] = []

  constructor(
    readonly fields: RequestFields,
    readonly sink: StreamSink,
    private readonly host: StreamHost,
  ) {}

  write(chunk: Buffer, isEnd = false): void {
    if (this.isOver || this.isEnded) return
    this.unsent.push(chunk)
    this.isEnded = isEnd
    if (this.id !== 0) this.host.send(this)
  }

  cancel(): void {
    if (!this.isOver) this.host.cancel(this)
  }

  /** What comes is held, and the other side gets no room for more. */
  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    if (this.held.length > 0) process.nextTick(deliverHeld, this)
  }

  /** Data have come, and were counted. */
  receive(bytes: Buffer, isEnd: boolean): void {
    if (isEnd) this.deliverAll()
    else if (this.isPaused || this.held.length > 0) {
      // A copy, so that a small part does not keep all that came with it in memory.
      this.held.push(Buffer.from(bytes))
      return
    }
    this.deliver(bytes, isEnd)
  }

  receiveHeaders(fields: readonly string[], isEnd: boolean): void {
    if (isEnd) this.deliverAll()
    this.sink.headers(fields, isEnd)
  }

  /** At the end of the stream, what was held is delivered although it is paused. */
  private deliverAll(): void {
    while (this.held.length > 0 && !this.isOver) this.deliver(this.held.shift()!, false)
  }

  /** Called by `deliverHeld`. The sink may pause the stream again. */
  deliverResumed(): void {
    while (this.held.length > 0 && !this.isOver && !this.isPaused) this.deliver(this.held.shift()!, false)
  }

  private deliver(bytes: Buffer, isEnd: boolean): void {
    this.host.consumed(this, bytes.length)
    this.sink.data(bytes, isEnd)
  }

  /** So many bytes, which the other side may send now. */
  grow(): number {
    const bytes = this.unacknowledged
    this.receiveWindow += bytes
    this.unacknowledged = 0
    return bytes
  }
}

function deliverHeld(stream: ClientStream): void {
  stream.deliverResumed()
}
