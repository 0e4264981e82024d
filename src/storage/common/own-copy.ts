/**
 * A copy of bytes in memory of its own. Small buffers are pieces of a pool that Node shares among them (64 KiB from Node 24
 * on), or of a network message: one piece that is kept for long would keep all of that.
 */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength)
  copy.set(bytes)
  return copy
}
