// Buffers for writes to sockets, which are used again when the system has taken their bytes.
//
// Each buffer is memory outside of V8's heap. V8 collects the whole heap whenever 64 MiB of such memory were taken since the
// last time: with a new buffer for each write, a few long lists were enough, and cost more than the lists themselves.

export interface WriteBuffers {
  /** A buffer of exactly this size. */
  take(size: number): Buffer
  /** The bytes of this buffer are not needed anymore. */
  give(buffer: Buffer): void
}

/** Node cuts smaller ones from a pool. */
const SMALL = 4 * 1024
/** The largest write of a connection, except for one with many control frames. */
const LARGE = 352 * 1024
/** Kept at most, while no write uses them. */
const MAX_FREE = 4

export function createWriteBuffers(): WriteBuffers {
  const free: ArrayBuffer[] = []
  return {
    take(size) {
      if (size <= SMALL || size > LARGE) return Buffer.allocUnsafe(size)
      const memory = free.pop() ?? Buffer.allocUnsafeSlow(LARGE).buffer
      return Buffer.from(memory, 0, size)
    },
    give({ buffer }) {
      if (buffer.byteLength === LARGE && free.length < MAX_FREE) free.push(buffer as ArrayBuffer)
    },
  }
}
