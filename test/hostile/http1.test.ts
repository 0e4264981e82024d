// Requests of HTTP/1.1 that are malformed, ambiguous or ask for another protocol, as bytes.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiFixture, startApi, WIDGETS, widget } from '../http/api-fixture.js'

let api: ApiFixture
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

async function open(): Promise<{ socket: TLSSocket; received(): string }> {
  const socket = connect({ port: api.port, host: '127.0.0.1', ca: api.ca, ALPNProtocols: ['http/1.1'] })
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return { socket, received: () => text }
}

const statusesIn = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))

const GET = `GET ${WIDGETS} HTTP/1.1\r\nHost: a\r\n`
const POST = `POST ${WIDGETS}?dryRun=All HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
const BODY = JSON.stringify(widget('a'))
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

test.each<[what: string, status: number, bytes: string]>([
  ['a target with a scheme and a host', 200, `GET https://user@other:1${WIDGETS} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a target with a host and no path', 404, 'GET https://other?a=b HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['two Host headers', 400, `${GET}Host: b\r\n\r\n`],
  ['a Host that is none', 400, `GET ${WIDGETS} HTTP/1.1\r\nHost: a/b c\r\n\r\n`],
  ['HTTP/0.9', 400, `GET ${WIDGETS}\r\n\r\n`],
  ['HTTP/2.0 as text', 505, `GET ${WIDGETS} HTTP/2.0\r\nHost: a\r\n\r\n`],
  ['a length and chunks', 400, `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(BODY)}`],
  ['two lengths', 400, `${POST}Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}`],
  ['another transfer encoding', 501, `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n${chunked(BODY)}`],
  ['a folded header', 400, `${GET}X: a\r\n b\r\n\r\n`],
  ['a space before the colon', 400, `${POST}Transfer-Encoding : chunked\r\n\r\n${chunked(BODY)}`],
  ['headers in trailers', 201, `${POST}Transfer-Encoding: chunked\r\n\r\n${chunked(BODY).slice(0, -2)}Host: b\r\n\r\n`],
])('%s: %d', async (_, status, bytes) => {
  const { socket, received } = await open()
  socket.write(bytes)
  await expect.poll(received).toMatch(/\r\n\r\n/)
  expect(statusesIn(received())).toEqual([status])
  socket.destroy()
})

test('a client that waits with its body is asked for it only if the request is served', async () => {
  const { socket, received } = await open()
  socket.write(`${POST}Content-Length: ${BODY.length}\r\nExpect: 100-continue\r\n\r\n`)
  await expect.poll(received).toMatch(/^HTTP\/1\.1 100 /)
  socket.write(BODY)
  await expect.poll(() => statusesIn(received())).toEqual([100, 201])
  // The body of a request that is refused may or may not follow, so that the connection ends.
  socket.write(POST.replace('/json', '/none'))
  socket.write('Content-Length: 9\r\nExpect: 100-continue\r\n\r\n')
  await once(socket, 'close')
  expect(statusesIn(received())).toEqual([100, 201, 415])
})

const WEBSOCKET = `GET ${WIDGETS}?watch=true HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`

test('a WebSocket that is asked for before an earlier request is answered', async () => {
  const { socket, received } = await open()
  const watch = `GET ${WIDGETS}?watch=true&timeoutSeconds=1 HTTP/1.1\r\nHost: a\r\n\r\n`
  socket.write(watch + WEBSOCKET)
  await expect.poll(() => statusesIn(received()), { timeout: 5_000 }).toEqual([200, 101])
  socket.destroy()
})

test('very many requests for another protocol on one connection are all answered', async () => {
  const { socket, received } = await open()
  const requests = 100
  socket.write(`${GET}Upgrade: none\r\nConnection: Upgrade\r\n\r\n`.repeat(requests))
  await expect.poll(() => statusesIn(received()).length, { timeout: 10_000 }).toBe(requests)
  expect(new Set(statusesIn(received()))).toEqual(new Set([200]))
  socket.destroy()
})
