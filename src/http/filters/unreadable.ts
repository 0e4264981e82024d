// What arrives on a connection of HTTP/1.1 and is no request.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { genericResponse, type Status } from '../../meta/errors/status.js'
import { tooLargeHeaders } from './header-limit.js'

/** An error of Node's parser has the bytes that it could not read. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Uint8Array }

/** Answers what could not be read as a request of HTTP/1.1, and closes the connection. */
export function answerUnreadable(error: ParserError, socket: Duplex): void {
  // Data that follow cause further errors.
  if (socket.writableEnded) return
  if (!socket.writable || !isOfRequest(error)) return void socket.destroy()
  const status = statusOf(error)
  const code = status?.code ?? UNREADABLE.get(error.code ?? '') ?? 400
  const body = status === undefined ? '' : JSON.stringify(status)
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nConnection: close\r\n` +
      (status === undefined ? '' : 'Content-Type: application/json\r\n') +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  // The client may still send; a connection that is closed at once is reset, and the response is lost.
  socket.resume()
  setTimeout(() => socket.destroy(), UNREADABLE_GRACE_MS).unref()
}

/** Not of the connection: a client whose handshake took too long, for example, may have a right request, and tries again. */
const isOfRequest = ({ code = '' }: NodeJS.ErrnoException): boolean => /^(HPE|ERR_HTTP)_/.test(code)

/** Where kube-apiserver reads the request and answers with a Status. */
function statusOf(error: ParserError): Status | undefined {
  if (error.code === 'HPE_HEADER_OVERFLOW') return tooLargeHeaders().status
  const isUnknownMethod =
    error.code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(Buffer.from(error.rawPacket ?? []).toString('latin1'))
  return isUnknownMethod ? genericResponse(405).status : undefined
}

/** The parser of Node.js knows certain methods only. Go's takes any token; requests of other methods are not allowed. */
const REQUEST_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ \S+ HTTP\/1\.[01]\r?\n/

/** Other errors of Node's parser and their codes. */
const UNREADABLE = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
])
const UNREADABLE_GRACE_MS = 1_000
