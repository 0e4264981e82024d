// Several requests of HTTP/1.1 that are sent before the first of them is answered.
import { once } from 'node:events'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiFixture, startApi, WIDGETS } from './api-fixture.js'

let api: ApiFixture
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

test('large bodies that arrive while large responses are sent are all read', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `w${i}`)
  const socket = connect({ port: api.port, host: '127.0.0.1', ca: api.ca, ALPNProtocols: ['http/1.1'] })
  let answer = ''
  socket.setEncoding('latin1').on('data', chunk => (answer += chunk))
  socket.on('error', () => {})
  const annotations = { text: 'x'.repeat(100_000) }
  for (const name of names) {
    const body = JSON.stringify({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name, annotations },
    })
    const last = name === names.at(-1) ? 'Connection: close\r\n' : ''
    socket.write(
      `POST ${WIDGETS} HTTP/1.1\r\nHost: a\r\n${last}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  }
  await once(socket, 'close')
  const statuses = answer.match(/HTTP\/1\.1 \d+/g)
  expect(statuses).toEqual(names.map(() => 'HTTP/1.1 201'))
})

test('a request is served after the one before it', async () => {
  const socket = connect({ port: api.port, host: '127.0.0.1', ca: api.ca, ALPNProtocols: ['http/1.1'] })
  let answer = ''
  socket.setEncoding('latin1').on('data', chunk => (answer += chunk))
  const body = JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'behind' } })
  socket.write(
    `GET ${WIDGETS}?watch=true&timeoutSeconds=1 HTTP/1.1\r\nHost: a\r\n\r\n` +
      `POST ${WIDGETS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  await once(socket, 'close')
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 201'])
  // The watch was over when the object was created.
  expect(answer.slice(0, answer.indexOf('HTTP/1.1 201'))).not.toContain('behind')
})
