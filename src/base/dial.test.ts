import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startConnectProxy, type TestProxy } from './connect-proxy.suite.js'
import { dialThrough } from './dial.js'

let target: Server
let port: number
let proxy: TestProxy | undefined
let folder: string | undefined

beforeEach(async () => {
  target = createServer(socket => socket.on('error', () => {}).end('hello'))
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  port = (target.address() as AddressInfo).port
})

afterEach(async () => {
  target.close()
  proxy?.close()
  if (folder) await rm(folder, { recursive: true })
  folder = undefined
})

const through = (at: { host: string; port: number } | { path: string }) => dialThrough({ name: 'the-proxy', at })

async function received(socket: Awaited<ReturnType<ReturnType<typeof through>>>): Promise<string> {
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

test('a proxy opens the connection', async () => {
  proxy = await startConnectProxy()
  const socket = await through({ host: '127.0.0.1', port: proxy.port })('127.0.0.1', port)
  expect(await received(socket)).toBe('hello')
  expect(proxy.targets).toEqual([`127.0.0.1:${port}`])
})

test('a proxy may listen on a socket with a path', async () => {
  folder = await mkdtemp(join(tmpdir(), 'dial-'))
  const path = join(folder, 'proxy.sock')
  proxy = await startConnectProxy({ at: path })
  expect(await received(await through({ path })('127.0.0.1', port))).toBe('hello')
})

test.each([
  [
    'HTTP/1.1 403 Forbidden\r\n\r\n',
    'proxy error from the-proxy while dialing 127.0.0.1:PORT, code 403: 403 Forbidden',
  ],
  ['', 'reading HTTP response from CONNECT to 127.0.0.1:PORT via proxy the-proxy failed: unexpected EOF'],
  [
    'nonsense\r\n\r\n',
    'reading HTTP response from CONNECT to 127.0.0.1:PORT via proxy the-proxy failed: malformed HTTP response "nonsense"',
  ],
])('the error when a proxy answers %j', async (refusal, message) => {
  proxy = await startConnectProxy({ refusal })
  const dialed = through({ host: '127.0.0.1', port: proxy.port })('127.0.0.1', port)
  await expect(dialed).rejects.toThrow(message.replace('PORT', String(port)))
})

test('what comes with the answer of the proxy is not lost', async () => {
  proxy = await startConnectProxy({ refusal: 'HTTP/1.1 200 OK\r\n\r\nmore' })
  const socket = await through({ host: '127.0.0.1', port: proxy.port })('127.0.0.1', port)
  expect(await received(socket)).toBe('more')
})

test('a proxy that is not there is an error', async () => {
  proxy = await startConnectProxy()
  proxy.close()
  await expect(through({ host: '127.0.0.1', port: proxy.port })('127.0.0.1', port)).rejects.toThrow('ECONNREFUSED')
})
