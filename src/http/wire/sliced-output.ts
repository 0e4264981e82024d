// A large chunk is written to the socket of HTTP/1.1 in slices, as its client reads. The chunk itself is shared: an event
// goes to all watchers and a kept list to all clients. Written at once it would be copied for each of them, encrypted, and
// held until the client has read it.

import type { Outgoing } from './exchange.js'

/** TLS writes records of 16 KiB. */
const SLICE = 64 * 1024

export interface SlicedOutput extends Outgoing {
  /** Bytes that are not written yet. */
  readonly pending: number
}

/** `to` must be written to by the result alone. */
export const slicedOutput = (to: Outgoing): SlicedOutput => new SlicingOutput(to)

class SlicingOutput implements SlicedOutput {
  pending = 0
  private chunks: Buffer[] = []
  /** How much of the first chunk is written. */
  private offset = 0
  private isEnding = false
  private drained: (() => void) | undefined

  constructor(private readonly to: Outgoing) {}

  write(chunk: Buffer | string): boolean {
    if (this.isEnding) return true
    const isWaiting = this.pending > 0
    if (!isWaiting && chunk.length <= SLICE) return this.to.write(chunk)
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    this.chunks.push(bytes)
    this.pending += bytes.length
    if (isWaiting) return false
    // Before the first wait, so that small responses set up nothing.
    if (!this.drained) this.onDrain(() => {})
    return this.flush()
  }

  /** Writes until the client must read. Answers whether all is written and more is wanted. */
  private flush(): boolean {
    while (this.pending > 0) {
      const [chunk] = this.chunks
      const slice = chunk!.subarray(this.offset, this.offset + SLICE)
      this.offset += slice.length
      this.pending -= slice.length
      if (this.offset === chunk!.length) {
        this.chunks.shift()
        this.offset = 0
      }
      if (!this.to.write(slice)) return false
    }
    return true
  }

  onDrain(listener: () => void): void {
    const isFirst = this.drained === undefined
    this.drained = listener
    if (!isFirst) return
    this.to.onDrain(() => {
      if (!this.flush() || this.pending > 0) return
      if (this.isEnding) this.to.end()
      else this.drained!()
    })
  }

  end(): void {
    if (this.isEnding) return
    this.isEnding = true
    if (this.pending === 0) this.to.end()
  }

  abort(): void {
    this.isEnding = true
    this.pending = 0
    this.chunks = []
    this.to.abort()
  }
}
