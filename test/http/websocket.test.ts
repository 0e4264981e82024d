// Watches over WebSocket, and requests that ask for another protocol.
import tls from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApiFixture, http1Client, startApi, WIDGETS, widget } from './api-fixture.js'

let api: ApiFixture
beforeEach(async () => {
  api = await startApi()
})
afterEach(() => api.close())

const HANDSHAKE = {
  Host: 'localhost',
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  Origin: 'http://localhost',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
}

/** Sends the request as bytes. Bytes of the response that are not printable are shown in hex, as `<81>`. */
function begin(path: string, headers: Record<string, string>, body = '') {
  const socket = tls.connect({ port: api.port, host: '127.0.0.1', ca: api.ca, ALPNProtocols: ['http/1.1'] })
  let received = ''
  let isEnded = false
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1').replace(/[^ -~\r\n]/g, hex)))
  socket.on('end', () => (isEnded = true))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  return {
    socket,
    received: () => received,
    isEnded: () => isEnded,
  }
}

type Begun = ReturnType<typeof begin>

const hex = (char: string): string => `<${char.charCodeAt(0).toString(16)}>`

async function checkUntil({ received }: Begun, pattern: RegExp): Promise<void> {
  await expect.poll(received).toMatch(pattern)
}

async function checkEnds({ isEnded }: Begun): Promise<void> {
  await expect.poll(isEnded).toBe(true)
}

const frame = (opcode: number, payload = ''): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)])

test('each event is one text frame, pings are answered, and a close is answered by a close', async () => {
  const client = await http1Client(api)
  await client.send({ method: 'POST', path: WIDGETS, body: widget('a') })
  const watch = begin(`${WIDGETS}?watch=true`, HANDSHAKE)
  await checkUntil(watch, /^HTTP\/1\.1 101 Switching Protocols\r\nUpgrade: websocket\r\n/)
  await checkUntil(watch, /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n\r\n<81>/)
  await checkUntil(watch, /"type":"ADDED".*"name":"a"/)
  await client.send({ method: 'POST', path: WIDGETS, body: widget('b') })
  await checkUntil(watch, /<81>.*"name":"b"/s)
  watch.socket.write(frame(9, 'hi'))
  await checkUntil(watch, /<8a><2>hi/)
  watch.socket.write(frame(8))
  await checkUntil(watch, /<88><2><3><e8>$/)
  await checkEnds(watch)
  client.close()
})

test('a watch over WebSocket ends with a close frame when its time is over', async () => {
  const watch = begin(`${WIDGETS}?watch=true&timeoutSeconds=-1`, HANDSHAKE)
  await checkUntil(watch, /<88><2><3><e8>$/)
  await checkEnds(watch)
})

test.each([
  [{ ...HANDSHAKE, 'Sec-WebSocket-Version': '12' }, /^HTTP\/1\.1 400 .*missing or bad WebSocket Version$/s],
  [{ ...HANDSHAKE, 'Sec-WebSocket-Key': '' }, /^HTTP\/1\.1 400 .*mismatch challenge\/response$/s],
  [{ ...HANDSHAKE, Origin: '' }, /^HTTP\/1\.1 403 Forbidden\r\n\r\n$/],
])('a handshake with %j is refused', async (headers, answer) => {
  const watch = begin(`${WIDGETS}?watch=true`, headers)
  await checkUntil(watch, answer)
  await checkEnds(watch)
})

test('a client that does not mask its frames is cut off', async () => {
  const watch = begin(`${WIDGETS}?watch=true`, HANDSHAKE)
  await checkUntil(watch, /^HTTP\/1\.1 101/)
  watch.socket.on('error', () => {})
  watch.socket.write(Buffer.from([0x89, 0]))
  await expect.poll(() => watch.socket.closed).toBe(true)
})

test('what is no watch is answered as over HTTP', async () => {
  const list = begin(WIDGETS, HANDSHAKE)
  await checkUntil(list, /^HTTP\/1\.1 200 OK.*"kind":"WidgetList"/s)
  await checkEnds(list)
})

test('a request that asks for HTTP/2 in the clear is served over HTTP/1.1, body included, and the connection stays', async () => {
  const body = JSON.stringify(widget('c'))
  const headers = {
    Host: 'localhost',
    Upgrade: 'h2c',
    Connection: 'Upgrade, HTTP2-Settings',
    'HTTP2-Settings': 'AAMAAABk',
  }
  const sent = begin(
    WIDGETS,
    { ...headers, 'Content-Type': 'application/json', 'Content-Length': String(body.length) },
    body,
  )
  await checkUntil(sent, /^HTTP\/1\.1 201 Created/)
  sent.socket.write(`GET ${WIDGETS}/c HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  await checkUntil(sent, /HTTP\/1\.1 201.*HTTP\/1\.1 200 OK/s)
  sent.socket.destroy()
})
