// Cuts what arrives on a connection of HTTP/2 into frames, and joins blocks of headers that come in several of them.

import {
  ACK,
  CONTINUATION,
  ConnectionError,
  END_HEADERS,
  END_STREAM,
  ENHANCE_YOUR_CALM,
  FRAME_HEAD,
  FRAME_SIZE,
  FRAME_SIZE_ERROR,
  HAS_PRIORITY,
  HEADERS,
  MAX_WINDOW,
  PADDED,
  PROTOCOL_ERROR,
  SETTINGS,
} from './frames.js'

/** What takes the frames of a connection. */
export interface FrameSink {
  /** The connection is over: the frames that have come with the last one are not read. */
  readonly isOver: boolean
  /** A whole block of headers. */
  onHeaders(stream: number, block: Buffer, isEnd: boolean): void
  /** Any other frame, with its payload `from` … `to`. */
  onFrame(type: number, flags: number, stream: number, bytes: Buffer, from: number, to: number): void
}

/** A block of headers has at most so many frames; those of Node and Go are full. */
const MAX_CONTINUATIONS = 128
export const PRIORITY_SIZE = 5

interface HeaderBlock {
  readonly stream: number
  readonly isEnd: boolean
  readonly parts: Buffer[]
  size: number
}

export class FrameReader {
  private rest: Buffer | undefined
  private block: HeaderBlock | undefined
  private hasSettings = false

  /** A larger block of headers that comes in several frames ends the connection. */
  constructor(
    private readonly sink: FrameSink,
    private readonly maxBlockBytes: number,
  ) {}

  /** Throws a ConnectionError. */
  push(chunk: Buffer): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk
    this.rest = undefined
    let at = 0
    while (bytes.length - at >= FRAME_HEAD && !this.sink.isOver) {
      const length = bytes.readUIntBE(at, 3)
      if (length > FRAME_SIZE) throw new ConnectionError(FRAME_SIZE_ERROR, 'a frame is too large')
      const from = at + FRAME_HEAD
      if (bytes.length < from + length) break
      this.read(bytes[at + 3]!, bytes[at + 4]!, bytes.readUInt32BE(at + 5) & MAX_WINDOW, bytes, from, from + length)
      at = from + length
    }
    if (at < bytes.length) this.rest = bytes.subarray(at)
  }

  private read(type: number, flags: number, stream: number, bytes: Buffer, from: number, to: number): void {
    if (!this.hasSettings) {
      if (type !== SETTINGS || flags & ACK) throw new ConnectionError(PROTOCOL_ERROR, 'settings come first')
      this.hasSettings = true
    }
    if (this.block && (type !== CONTINUATION || stream !== this.block.stream)) {
      throw new ConnectionError(PROTOCOL_ERROR, 'a block of headers is not complete')
    }
    if (type === HEADERS) this.readHeaders(flags, stream, bytes, from, to)
    else if (type === CONTINUATION) this.readContinuation(flags, bytes, from, to)
    else this.sink.onFrame(type, flags, stream, bytes, from, to)
  }

  private readHeaders(flags: number, stream: number, bytes: Buffer, from: number, to: number): void {
    let [start, end] = unpadded(flags, bytes, from, to)
    if (flags & HAS_PRIORITY) {
      checkPriority(stream, bytes, start, end)
      start += PRIORITY_SIZE
    }
    const isEnd = (flags & END_STREAM) !== 0
    const part = bytes.subarray(start, end)
    if (flags & END_HEADERS) this.sink.onHeaders(stream, part, isEnd)
    else this.block = { stream, isEnd, parts: [part], size: part.length }
  }

  private readContinuation(flags: number, bytes: Buffer, from: number, to: number): void {
    const { block } = this
    if (!block) throw new ConnectionError(PROTOCOL_ERROR, 'nothing is continued')
    block.parts.push(bytes.subarray(from, to))
    block.size += to - from
    if (block.size > this.maxBlockBytes || block.parts.length > MAX_CONTINUATIONS) {
      throw new ConnectionError(ENHANCE_YOUR_CALM, 'a block of headers is too large')
    }
    if (!(flags & END_HEADERS)) return
    this.block = undefined
    this.sink.onHeaders(block.stream, Buffer.concat(block.parts), block.isEnd)
  }
}

export function checkPriority(stream: number, bytes: Buffer, from: number, to: number): void {
  if (to - from < PRIORITY_SIZE) throw new ConnectionError(FRAME_SIZE_ERROR, 'priority')
  if ((bytes.readUInt32BE(from) & MAX_WINDOW) === stream) {
    throw new ConnectionError(PROTOCOL_ERROR, 'a stream depends on itself')
  }
}

/** Where the payload of a frame begins and ends without its padding. */
export function unpadded(flags: number, bytes: Buffer, from: number, to: number): [number, number] {
  if (!(flags & PADDED)) return [from, to]
  if (from === to) throw new ConnectionError(FRAME_SIZE_ERROR, 'padding')
  const end = to - bytes[from]!
  if (end < from + 1) throw new ConnectionError(PROTOCOL_ERROR, 'padding')
  return [from + 1, end]
}
