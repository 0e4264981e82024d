import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Exchange } from './exchange.js'
import { exchangeOfHttp1 } from './http1.js'

const server = createServer()
afterEach(() => {
  server.removeAllListeners('request')
  server.close()
})

/** What a client reads, byte for byte, until the server closes the connection. */
async function responseOf(respond: (exchange: Exchange) => void, method = 'GET'): Promise<string> {
  server.on('request', (request, response) => respond(exchangeOfHttp1(request, response)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write(`${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of client) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('latin1')
}

/** A value of a header holds one byte in each character. */
const BYTES = '\u00c3\u00a4\u00ff'

test.each<[what: string, respond: (exchange: Exchange) => void]>([
  ['a text', exchange => exchange.answer(200, { 'x-a': BYTES }, 'ä')],
  ['bytes', exchange => exchange.answer(200, { 'x-a': BYTES }, Buffer.from('ä'))],
  ['no body', exchange => exchange.answer(200, { 'x-a': BYTES })],
  [
    'a stream',
    exchange => {
      const outgoing = exchange.begin(200, { 'x-a': BYTES })
      outgoing.write('ä')
      outgoing.end()
    },
  ],
])('headers are sent as the bytes that they were given as, before %s', async (_, respond) => {
  expect(await responseOf(respond)).toContain(`x-a: ${BYTES}\r\n`)
})

test('the header of a stream is sent at once', async () => {
  let outgoing: ReturnType<Exchange['begin']> | undefined
  server.on('request', (request, response) => {
    outgoing = exchangeOfHttp1(request, response).begin(200, {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await once(client, 'data'))).toMatch(/^HTTP\/1\.1 200 /)
  outgoing!.end()
  client.destroy()
})

test('a stream that answers HEAD ends', async () => {
  const text = await responseOf(exchange => {
    const outgoing = exchange.begin(200, { 'x-a': BYTES })
    outgoing.write('a')
    outgoing.end()
  }, 'HEAD')
  expect(text).toContain(`x-a: ${BYTES}\r\n`)
})
