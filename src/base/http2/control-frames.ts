// Frames of one meaning on both sides of a connection of HTTP/2: settings, pings and windows.

import {
  ConnectionError,
  ENABLE_PUSH,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE,
  FRAME_SIZE_ERROR,
  INITIAL_WINDOW_SIZE,
  MAX_FRAME_SIZE,
  MAX_WINDOW,
  PROTOCOL_ERROR,
} from './frames.js'

/** Calls `onSetting` for each setting of a frame that is not an acknowledgement. */
export function readSettings(bytes: Buffer, from: number, to: number, onSetting: (id: number, value: number) => void) {
  if ((to - from) % 6 !== 0) throw new ConnectionError(FRAME_SIZE_ERROR, 'SETTINGS')
  for (let at = from; at < to; at += 6) {
    const id = bytes.readUInt16BE(at)
    const value = bytes.readUInt32BE(at + 2)
    checkSetting(id, value)
    onSetting(id, value)
  }
}

function checkSetting(id: number, value: number): void {
  if (id === ENABLE_PUSH && value > 1) throw new ConnectionError(PROTOCOL_ERROR, 'ENABLE_PUSH')
  // Larger frames are allowed and not sent, since they would hold up the other streams.
  if (id === MAX_FRAME_SIZE && (value < FRAME_SIZE || value >= 2 ** 24)) {
    throw new ConnectionError(PROTOCOL_ERROR, 'MAX_FRAME_SIZE')
  }
  if (id === INITIAL_WINDOW_SIZE && value > MAX_WINDOW) {
    throw new ConnectionError(FLOW_CONTROL_ERROR, 'INITIAL_WINDOW_SIZE')
  }
}

/** By how much a window grows. */
export function windowGrowth(bytes: Buffer, from: number, to: number): number {
  if (to - from !== 4) throw new ConnectionError(FRAME_SIZE_ERROR, 'WINDOW_UPDATE')
  return bytes.readUInt32BE(from) & MAX_WINDOW
}

export function checkPing(stream: number, from: number, to: number): void {
  if (stream !== 0) throw new ConnectionError(PROTOCOL_ERROR, 'PING on a stream')
  if (to - from !== 8) throw new ConnectionError(FRAME_SIZE_ERROR, 'PING')
}

export function checkGoaway(stream: number, from: number, to: number): void {
  if (stream !== 0) throw new ConnectionError(PROTOCOL_ERROR, 'GOAWAY on a stream')
  if (to - from < 8) throw new ConnectionError(FRAME_SIZE_ERROR, 'GOAWAY')
}
