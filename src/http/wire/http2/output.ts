// What a connection sends: frames of control and headers first, then the data of the streams in turns, as far as the
// windows of the client allow. All that is ready in one turn of the event loop leaves in one write.

import type { Socket } from 'node:net'
import {
  DATA,
  DEFAULT_WINDOW,
  END_STREAM,
  FRAME_HEAD,
  FRAME_SIZE,
  MAX_WINDOW,
  writeFrameHead,
} from '../../../base/http2/frames.js'
import { createWriteBuffers } from '../../../base/http2/write-buffers.js'
import type { Stream } from './stream.js'

export interface Output {
  /** Sends a frame that needs no window, before all data that are not sent yet. */
  control(bytes: Buffer): void
  /** The stream may have something to send. */
  ready(stream: Stream): void
  /** The client accepts so many bytes more of all streams. False if that is more than there can be. */
  grow(bytes: number): boolean
  /** Sends nothing until `release`, which sends all at once. */
  hold(): void
  release(): void
  /** Closes the connection when all that is ready is sent. */
  end(): void
  /** Sends nothing more. */
  stop(): void
  /** Bytes that are written and not taken by the system. */
  readonly unsent: number
  /** Bytes that the system has taken. */
  readonly sent: number
  /** Bytes of control and headers that are not written yet. */
  readonly backlog: number
}

/** A write is about as large: enough that it costs little, and little enough that other connections get their turn. */
const WRITE_SIZE = 256 * 1024
/** What one stream may send before the next one does. */
const TURN_SIZE = 64 * 1024

/** `finish` is called for each stream whose end was sent. */
export function createOutput(socket: Socket, finish: (stream: Stream) => void): Output {
  return new SocketOutput(socket, finish)
}

class SocketOutput implements Output {
  unsent = 0
  sent = 0
  private window = DEFAULT_WINDOW
  private controls: Buffer[] = []
  private controlBytes = 0
  private queue: Stream[] = []
  private isWriting = false
  private isScheduled = false
  private isHeld = false
  private isEnding = false
  private isStopped = false

  // The frames of the next write.
  private readonly ids: number[] = []
  private readonly flags: number[] = []
  private readonly chunks: Buffer[] = []
  private readonly starts: number[] = []
  private readonly lengths: number[] = []
  /** Streams whose end is sent by the next write, or that can take more then. */
  private touched: Stream[] = []

  constructor(
    private readonly socket: Socket,
    private readonly finish: (stream: Stream) => void,
  ) {}

  get backlog(): number {
    return this.controlBytes
  }

  control(bytes: Buffer): void {
    if (this.isStopped) return
    this.controls.push(bytes)
    this.controlBytes += bytes.length
    this.schedule()
  }

  ready(stream: Stream): void {
    if (stream.isQueued || stream.gone || this.isStopped) return
    if (stream.pending === 0 ? !stream.isEnded : stream.sendWindow <= 0) return
    stream.isQueued = true
    this.queue.push(stream)
    this.schedule()
  }

  grow(bytes: number): boolean {
    this.window += bytes
    if (this.window > MAX_WINDOW) return false
    if (this.queue.length > 0) this.schedule()
    return true
  }

  hold(): void {
    this.isHeld = true
  }

  release(): void {
    this.isHeld = false
    this.flush()
  }

  end(): void {
    this.isEnding = true
    this.schedule()
  }

  stop(): void {
    this.queue = []
    // The last frame, which says why the connection ends, must still leave.
    if (!this.isEnding) this.isStopped = true
  }

  private schedule(): void {
    if (this.isHeld || this.isScheduled || this.isWriting) return
    this.isScheduled = true
    process.nextTick(flushNext, this)
  }

  /** Called by `flushNext`. */
  flushScheduled(): void {
    this.isScheduled = false
    this.flush()
  }

  private flush(): void {
    if (this.isWriting || this.isHeld || this.isStopped) return
    const size = this.controlBytes + (this.queue.length === 0 ? 0 : this.gather())
    if (size > 0) this.write(size)
    this.finishSent()
    if (this.isEnding && this.controlBytes === 0 && this.queue.length === 0) {
      this.isStopped = true
      this.socket.destroySoon()
    }
  }

  /** Chooses the data of the next write; answers how many bytes they are as frames. */
  private gather(): number {
    let size = 0
    for (let left = this.queue.length; left > 0 && size < WRITE_SIZE; left--) {
      const stream = this.queue.shift()!
      stream.isQueued = false
      if (stream.gone) continue
      size += this.gatherFrom(stream)
      if (stream.isEndSent || stream.waitsForDrain) this.touched.push(stream)
      if (stream.pending === 0 || stream.sendWindow <= 0) continue
      stream.isQueued = true
      this.queue.push(stream)
      // It comes again after all others, unless the client accepts no more.
      if (this.window > 0) left++
    }
    return size
  }

  private gatherFrom(stream: Stream): number {
    let size = 0
    while (stream.pending > 0 && size < TURN_SIZE) {
      const chunk = stream.chunks[0]!
      const length = Math.min(chunk.length - stream.offset, stream.sendWindow, this.window, FRAME_SIZE)
      if (length <= 0) return size
      this.add(stream, chunk, stream.offset, length)
      size += FRAME_HEAD + length
      stream.sent(length)
      this.window -= length
      stream.offset += length
      if (stream.offset === chunk.length) {
        stream.chunks.shift()
        stream.offset = 0
      }
    }
    if (stream.pending > 0 || !stream.isEnded || stream.isEndSent) return size
    stream.isEndSent = true
    // The last frame ends the stream; without one, an empty one does.
    if (size === 0) {
      this.add(stream, NOTHING, 0, 0)
      size = FRAME_HEAD
    }
    this.flags[this.flags.length - 1] = END_STREAM
    return size
  }

  private add(stream: Stream, chunk: Buffer, start: number, length: number): void {
    this.ids.push(stream.id)
    this.flags.push(0)
    this.chunks.push(chunk)
    this.starts.push(start)
    this.lengths.push(length)
  }

  private write(size: number): void {
    const bytes = BUFFERS.take(size)
    let at = 0
    for (const control of this.controls) {
      bytes.set(control, at)
      at += control.length
    }
    this.controls = []
    this.controlBytes = 0
    const { ids, flags, chunks, starts, lengths } = this
    for (let i = 0; i < ids.length; i++) {
      const start = starts[i]!
      const length = lengths[i]!
      writeFrameHead(bytes, at, length, DATA, flags[i]!, ids[i]!)
      at += FRAME_HEAD
      chunks[i]!.copy(bytes, at, start, start + length)
      at += length
    }
    for (const list of [ids, flags, chunks, starts, lengths]) list.length = 0
    this.isWriting = true
    this.unsent = size
    this.socket.write(bytes, error => {
      if (!error) BUFFERS.give(bytes)
      this.isWriting = false
      this.unsent = 0
      this.sent += size
      if (!this.socket.destroyed) this.flush()
    })
  }

  /** Ends the streams whose end was sent, and wakes those that may write more. */
  private finishSent(): void {
    if (this.touched.length === 0) return
    const { touched } = this
    this.touched = []
    for (const stream of touched) {
      if (stream.gone) continue
      if (stream.isEndSent) this.finish(stream)
      else stream.drain()
    }
  }
}

const NOTHING = Buffer.alloc(0)

/** For all connections of the process. */
const BUFFERS = createWriteBuffers()

function flushNext(output: SocketOutput): void {
  output.flushScheduled()
}
