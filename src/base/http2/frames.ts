// Frames of HTTP/2 (RFC 9113).

export const DATA = 0
export const HEADERS = 1
export const PRIORITY = 2
export const RST_STREAM = 3
export const SETTINGS = 4
export const PUSH_PROMISE = 5
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9

export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4
export const PADDED = 8
export const HAS_PRIORITY = 0x20

export const NO_ERROR = 0
export const PROTOCOL_ERROR = 1
export const INTERNAL_ERROR = 2
export const FLOW_CONTROL_ERROR = 3
export const STREAM_CLOSED = 5
export const FRAME_SIZE_ERROR = 6
export const REFUSED_STREAM = 7
export const CANCEL = 8
export const COMPRESSION_ERROR = 9
export const ENHANCE_YOUR_CALM = 11

export const HEADER_TABLE_SIZE = 1
export const ENABLE_PUSH = 2
export const MAX_CONCURRENT_STREAMS = 3
export const INITIAL_WINDOW_SIZE = 4
export const MAX_FRAME_SIZE = 5
export const MAX_HEADER_LIST_SIZE = 6

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
export const FRAME_HEAD = 9
/** The largest payload unless the other side allows more. */
export const FRAME_SIZE = 16_384
export const DEFAULT_WINDOW = 65_535
export const MAX_WINDOW = 2 ** 31 - 1

/** The other side has violated the protocol: the connection ends with this code. */
export class ConnectionError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

export function writeFrameHead(
  bytes: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  bytes[at] = length >>> 16
  bytes[at + 1] = length >>> 8
  bytes[at + 2] = length
  bytes[at + 3] = type
  bytes[at + 4] = flags
  bytes[at + 5] = stream >>> 24
  bytes[at + 6] = stream >>> 16
  bytes[at + 7] = stream >>> 8
  bytes[at + 8] = stream
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = NO_BYTES): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD + payload.length)
  writeFrameHead(bytes, 0, payload.length, type, flags, stream)
  bytes.set(payload, FRAME_HEAD)
  return bytes
}

/** A frame whose payload is one number: WINDOW_UPDATE, RST_STREAM. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD + 4)
  writeFrameHead(bytes, 0, 4, type, 0, stream)
  bytes.writeUInt32BE(value, FRAME_HEAD)
  return bytes
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(6 * settings.length)
  for (const [i, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  }
  return frame(SETTINGS, 0, 0, payload)
}

export function goawayFrame(lastStream: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(8)
  payload.writeUInt32BE(lastStream, 0)
  payload.writeUInt32BE(code, 4)
  return frame(GOAWAY, 0, 0, payload)
}

const NO_BYTES = new Uint8Array(0)
