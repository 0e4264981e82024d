// Buffers for writes to sockets, which are used again when the system has taken their bytes.
//
// Each buffer is memory outside of V8's heap. V8 collects the whole heap whenever 64 MiB of such memory were taken since the
// last time: with a new buffer for each write, a few long lists were enough, and cost more than the lists themselves. So
// were a few events to many connections, as long as every write took a buffer of the largest size.

export interface WriteBuffers {
  /** A buffer of exactly this size. */
  take(size: number): Buffer
  /** The bytes of this buffer are not needed anymore. */
  give(buffer: Buffer): void
}

/** Node cuts smaller ones from a pool. */
const SMALL = 4 * 1024
/**
 * The sizes of buffers, none of them that of Node's pool (8 KiB). The last one is that of the largest write of a connection,
 * except for one with many control frames.
 */
const SIZES = [16, 32, 64, 128, 352].map(each => each * 1024)
/** So many bytes are kept at most, while no write uses them. */
const MAX_FREE = 8 * 1024 * 1024

export function createWriteBuffers(maxFree = MAX_FREE): WriteBuffers {
  const free = new Map<number, ArrayBuffer[]>(SIZES.map(size => [size, []]))
  let freeBytes = 0

  function used(size: number): ArrayBuffer | undefined {
    const memory = free.get(size)!.pop()
    if (memory) freeBytes -= size
    return memory
  }

  return {
    take(size) {
      const whole = size <= SMALL ? undefined : SIZES.find(each => size <= each)
      if (whole === undefined) return Buffer.allocUnsafe(size)
      return Buffer.from(used(whole) ?? Buffer.allocUnsafeSlow(whole).buffer, 0, size)
    },
    give({ buffer }) {
      const same = free.get(buffer.byteLength)
      if (!same || freeBytes + buffer.byteLength > maxFree) return
      same.push(buffer as ArrayBuffer)
      freeBytes += buffer.byteLength
    },
  }
}
