// Requests with very many or very large header fields are refused; no field is dropped.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ApiFixture, type Client, http1Client, http2Client, startApi, WIDGETS } from './api-fixture.js'

let api: ApiFixture
let seen: (string | undefined)[]

beforeEach(async () => {
  seen = []
  api = await startApi({
    authenticate: ({ headers }) => {
      seen.push(headers['impersonate-user'] as string | undefined)
      return { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }
    },
  })
})
afterEach(() => api.close())

const fields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, '1']))

describe.each([
  ['HTTP/1.1', http1Client],
  ['HTTP/2', http2Client],
])('over %s', (_name, connect) => {
  let client: Client
  beforeEach(async () => {
    client = await connect(api)
  })
  afterEach(() => client.close())

  test('the last of 1,900 header fields is read', async () => {
    const answer = await client.send({ path: WIDGETS, headers: { ...fields(1_900), 'impersonate-user': 'alice' } })
    expect(answer.status).toBe(200)
    expect(seen).toEqual(['alice'])
  })

  test.each([2_000, 3_000])('a request with more than %i header fields is refused', async count => {
    const answer = await client.send({ path: WIDGETS, headers: { ...fields(count), 'impersonate-user': 'alice' } })
    expect(answer.json()).toMatchObject({
      kind: 'Status',
      code: 431,
      message: 'Request header fields too large: limit is 2000 fields',
    })
    expect(answer.status).toBe(431)
    expect(seen).toEqual([])
  })
})

async function sendRaw(text: string): Promise<string> {
  const socket = connectTls({ port: api.port, host: '127.0.0.1', ca: api.ca, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => {})
  socket.write(text)
  let answer = ''
  socket.setEncoding('utf8').on('data', chunk => (answer += chunk))
  await once(socket, 'close')
  return answer
}

test('header fields of more than 1 MiB are refused', async () => {
  const answer = await sendRaw(`GET ${WIDGETS} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1_200_000)}\r\n\r\n`)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch('HTTP/1.1 431 Request Header Fields Too Large')
  expect(JSON.parse(body)).toMatchObject({
    kind: 'Status',
    code: 431,
    message: 'Request header fields too large: limit is 1048576 bytes',
  })
})

test('header fields of more than 1 MiB are refused over HTTP/2, and the connection is kept', async () => {
  const session = connectHttp2(`https://127.0.0.1:${api.port}`, {
    ca: api.ca,
    maxSendHeaderBlockLength: 2 * 1024 * 1024,
    maxSessionMemory: 100,
  })
  const statusOf = async (headers: Record<string, string>): Promise<unknown> => {
    const stream = session.request({ ':path': WIDGETS, ...headers }).resume()
    const [response] = (await once(stream, 'response')) as [Record<string, unknown>]
    return response[':status']
  }
  expect(await statusOf({ x: 'x'.repeat(1_200_000) })).toBe(431)
  expect(await statusOf({})).toBe(200)
  session.close()
})

test('what is not HTTP is answered 400', async () => {
  expect(await sendRaw('hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
})
