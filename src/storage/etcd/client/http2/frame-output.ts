// What a client connection sends. The frames of one turn of the event loop are put together in one piece of memory and leave
// in one write; while the system takes it, the next ones are put into a second piece.

import type { Socket } from 'node:net'
import { FRAME_HEAD, writeFrameHead } from '../../../../base/http2/frames.js'

export interface FrameOutput {
  /** Adds a frame with a part of these bytes as its payload. */
  add(type: number, flags: number, stream: number, payload: Uint8Array, from?: number, to?: number): void
  /** Writes nothing until `release`, which writes all at once. */
  hold(): void
  release(): void
  /** Nothing more is written. */
  stop(): void
}

type Memory = Buffer<ArrayBuffer>

const SIZE = 32 * 1024
/** Memory of this size is not kept for the next write. */
const MAX_KEPT = 512 * 1024

export function createFrameOutput(socket: Socket): FrameOutput {
  return new SocketOutput(socket)
}

class SocketOutput implements FrameOutput {
  private filling: Memory = Buffer.allocUnsafeSlow(SIZE)
  private length = 0
  /** The other piece, unless it is being written. */
  private free: Memory | undefined = Buffer.allocUnsafeSlow(SIZE)
  private writing: Memory | undefined
  private isHeld = false
  private isScheduled = false
  private isStopped = false

  constructor(private readonly socket: Socket) {}

  add(type: number, flags: number, stream: number, payload: Uint8Array, from = 0, to = payload.length): void {
    const length = to - from
    this.reserve(FRAME_HEAD + length)
    writeFrameHead(this.filling, this.length, length, type, flags, stream)
    this.filling.set(
      from === 0 && to === payload.length ? payload : payload.subarray(from, to),
      this.length + FRAME_HEAD,
    )
    this.length += FRAME_HEAD + length
    this.schedule()
  }

  hold(): void {
    this.isHeld = true
  }

  release(): void {
    this.isHeld = false
    this.flush()
  }

  stop(): void {
    this.isStopped = true
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.filling.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.length + bytes))
    this.filling.copy(larger, 0, 0, this.length)
    this.filling = larger
  }

  private schedule(): void {
    if (this.isHeld || this.isScheduled || this.writing) return
    this.isScheduled = true
    process.nextTick(flushNext, this)
  }

  /** Called by `flushNext`. */
  flushScheduled(): void {
    this.isScheduled = false
    this.flush()
  }

  private flush(): void {
    if (this.isHeld || this.isStopped || this.writing || this.length === 0) return
    this.writing = this.filling
    const bytes = this.filling.subarray(0, this.length)
    this.filling = this.free ?? Buffer.allocUnsafeSlow(SIZE)
    this.free = undefined
    this.length = 0
    this.socket.write(bytes, this.onWritten)
  }

  private readonly onWritten = (): void => {
    if (this.writing!.length <= MAX_KEPT) this.free = this.writing
    this.writing = undefined
    this.flush()
  }
}

function flushNext(output: SocketOutput): void {
  output.flushScheduled()
}
