// gRPC framing: each message is preceded by one byte for compression and four bytes with its length.

export const FRAME_HEADER_BYTES = 5

/** Far above the size of any valid response, far below what would exhaust this process. */
export const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024

export class FrameError extends Error {
  override readonly name = 'FrameError'
}

/** Assembles messages from chunks; a chunk may contain several messages, or a part of one. */
export interface FrameReader {
  /** Takes a chunk and emits every message that it completes; throws a FrameError if the framing is invalid. */
  push(chunk: Buffer): void
  /** True between messages. */
  readonly empty: boolean
}

export function createFrameReader(onMessage: (message: Buffer) => void, maxBytes = MAX_MESSAGE_BYTES): FrameReader {
  let chunks: Buffer[] = []
  let length = 0
  /** How many bytes must be there before a message can be complete. */
  let needed = FRAME_HEADER_BYTES

  return {
    push(chunk) {
      chunks.push(chunk)
      length += chunk.length
      if (length < needed) return
      const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks, length)
      let start = 0
      needed = FRAME_HEADER_BYTES
      while (bytes.length - start >= FRAME_HEADER_BYTES) {
        const end = start + FRAME_HEADER_BYTES + messageLength(bytes, start, maxBytes)
        if (end > bytes.length) {
          needed = end - start
          break
        }
        onMessage(bytes.subarray(start + FRAME_HEADER_BYTES, end))
        start = end
      }
      chunks = start === bytes.length ? [] : [bytes.subarray(start)]
      length = bytes.length - start
    },
    get empty() {
      return length === 0
    },
  }
}

/** The only message of a unary response. */
export function onlyMessage(chunks: readonly Buffer[]): Buffer {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  if (bytes.length < FRAME_HEADER_BYTES) throw new FrameError('the answer holds no message')
  if (messageLength(bytes, 0, MAX_MESSAGE_BYTES) !== bytes.length - FRAME_HEADER_BYTES) {
    throw new FrameError('the answer is not exactly one message')
  }
  return bytes.subarray(FRAME_HEADER_BYTES)
}

function messageLength(bytes: Buffer, start: number, maxBytes: number): number {
  if (bytes[start] !== 0) throw new FrameError('a message is compressed, although compression was not requested')
  const length = bytes.readUInt32BE(start + 1)
  if (length > maxBytes) throw new FrameError(`a message of ${length} bytes is over the limit of ${maxBytes}`)
  return length
}
