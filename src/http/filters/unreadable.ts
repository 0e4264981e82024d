// What arrives on a connection of HTTP/1.1 and is no request.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { tooLargeHeaders } from './header-limit.js'

/** Answers what could not be read as a request of HTTP/1.1, and closes the connection. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Data that follow cause further errors.
  if (socket.writableEnded) return
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const code = isTooLarge ? 431 : (UNREADABLE.get(error.code ?? '') ?? 400)
  if (!socket.writable || !isOfRequest(error)) return void socket.destroy()
  const body = isTooLarge ? JSON.stringify(tooLargeHeaders().status) : ''
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nConnection: close\r\n` +
      (isTooLarge ? 'Content-Type: application/json\r\n' : '') +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  // The client may still send; a connection that is closed at once is reset, and the response is lost.
  socket.resume()
  setTimeout(() => socket.destroy(), UNREADABLE_GRACE_MS).unref()
}

/** Not of the connection: a client whose handshake took too long, for example, may have a right request, and tries again. */
const isOfRequest = ({ code = '' }: NodeJS.ErrnoException): boolean => /^(HPE|ERR_HTTP)_/.test(code)

/** Other errors of Node's parser and their codes. */
const UNREADABLE = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
])
const UNREADABLE_GRACE_MS = 1_000
