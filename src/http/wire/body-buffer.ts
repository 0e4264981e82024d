// Gathers the parts of a body into one buffer. A list of parts would cost far more than the bytes: a client that sends a
// byte at a time makes each a Buffer of its own, which moreover keeps all that came with it from the socket.

export interface BodyBuffer {
  add(part: Buffer): void
  readonly size: number
  /** All that was added. Nothing may be added after it. */
  take(): Buffer
}

export const createBodyBuffer = (): BodyBuffer => new GrowingBuffer()

const MIN_SIZE = 4096

/** A class, since one is made for every body. */
class GrowingBuffer implements BodyBuffer {
  size = 0
  private bytes: Buffer = NOTHING
  private isOwn = false

  add(part: Buffer): void {
    // Most bodies are one part, which is the larger part of what came from the socket: it is used as it is.
    if (this.size === 0 && 2 * part.length >= part.buffer.byteLength) this.bytes = part
    else {
      this.reserve(this.size + part.length)
      part.copy(this.bytes, this.size)
    }
    this.size += part.length
  }

  private reserve(size: number): void {
    if (this.isOwn && size <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(MIN_SIZE, 2 * size))
    this.bytes.copy(larger, 0, 0, this.size)
    this.bytes = larger
    this.isOwn = true
  }

  take(): Buffer {
    return this.bytes.length === this.size ? this.bytes : this.bytes.subarray(0, this.size)
  }
}

const NOTHING = Buffer.alloc(0)
