import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { answerUnreadable } from './unreadable.js'

/** What a client receives on a connection with such an error, and whether the connection is closed at once. */
function answerTo(code: string, sent = '') {
  const socket = new PassThrough()
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  answerUnreadable(Object.assign(new Error(code), { code, rawPacket: Buffer.from(sent) }), socket)
  return { text: String(socket.read() ?? Buffer.concat(chunks)), closed: socket.destroyed }
}

test.each([
  ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request'],
  ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout'],
])('%s is answered', (code, line) => {
  expect(answerTo(code)).toMatchObject({ text: expect.stringContaining(line), closed: false })
})

test.each(['ECONNRESET', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'ERR_SSL_NO_SHARED_CIPHER'])(
  '%s closes the connection: the request was not read, and may be right',
  code => {
    expect(answerTo(code)).toEqual({ text: '', closed: true })
  },
)

test('a method that the parser does not know is not allowed', () => {
  const { text } = answerTo('HPE_INVALID_METHOD', 'FOO /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(text).toContain('HTTP/1.1 405 Method Not Allowed')
  expect(text).toContain('"reason":"MethodNotAllowed"')
})

test.each(['\u0016\u0003\u0001', 'GET', 'FOO BAR', '(a) / HTTP/1.1\r\n'])('%j is no request', sent => {
  expect(answerTo('HPE_INVALID_METHOD', sent).text).toContain('HTTP/1.1 400 Bad Request')
})
