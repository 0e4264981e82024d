// How webhooks are called: what the client does with redirections, busy webhooks, compressed and broken responses.
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeWebhookCertificates } from '../../src/server/index.js'
import { createWebhooks } from '../../src/webhook/client.js'
import { kubeconfigTarget } from '../../src/webhook/kubeconfig-target.js'

const webhooks = createWebhooks()
const seen: string[] = []
let server: ReturnType<typeof createServer>
let caBundle: string

/** What the server does at a path. */
const PATHS: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/found': (_, response) => redirect(response, 302, '/answer?x=1'),
  '/moved': (_, response) => redirect(response, 307, 'answer'),
  '/circle': (_, response) => redirect(response, 308, '/circle'),
  '/plain': (_, response) => redirect(response, 302, 'http://127.0.0.1:1/'),
  '/busy': (_, response) => {
    const isFirst = seen.filter(each => each.includes('/busy')).length === 1
    response.writeHead(isFirst ? 503 : 200, isFirst ? { 'retry-after': '0' } : {}).end('{"busy":false}')
  },
  '/late': (_, response) => void response.writeHead(429, { 'retry-after': '100' }).end(),
  '/gzip': (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"zip":true}')),
  '/no-gzip': (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}'),
  '/empty': (_, response) => void response.writeHead(200, { 'content-type': 'text/x' }).end(),
  '/half': ({ socket }, response) => void response.writeHead(200).write('{', () => socket.destroy()),
  '/answer': (_, response) => void response.end('{"answer":true}'),
}

const redirect = (response: ServerResponse, status: number, location: string): void =>
  void response.writeHead(status, { location }).end()

beforeAll(async () => {
  const { cert, key, caBundle: bundle } = await makeWebhookCertificates(['127.0.0.1'])
  caBundle = bundle
  server = createServer({ cert, key }, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'https://x')
    let text = ''
    request.setEncoding('utf8').on('data', chunk => (text += chunk))
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${text}`)
      PATHS[pathname]?.(request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(async () => {
  webhooks.close()
  server.closeAllConnections()
  server.close()
})

async function post(path: string, timeoutMs = 5000): Promise<string> {
  seen.length = 0
  const { port } = server.address() as AddressInfo
  const url = `https://127.0.0.1:${port}${path}`
  const body = await webhooks.post({ url, caBundle }, '{}', timeoutMs).catch((error: Error) => error.message)
  return body.toString().replaceAll(`:${port}`, '')
}

test.each([
  ['/found', '{"answer":true}', ['POST /found?timeout=5s {}', 'GET /answer?x=1 ']],
  ['/moved', '{"answer":true}', ['POST /moved?timeout=5s {}', 'POST /answer {}']],
  ['/busy', '{"busy":false}', ['POST /busy?timeout=5s {}', 'POST /busy?timeout=5s {}']],
  ['/gzip', '{"zip":true}', ['POST /gzip?timeout=5s {}']],
])('%s is answered in the end', async (path, body, requests) => {
  expect(await post(path)).toBe(body)
  expect(seen).toEqual(requests)
})

const UNREADABLE = 'unexpected error when reading response body. Please retry. Original error: '

test.each([
  ['/circle', 'Post "https://127.0.0.1/circle": stopped after 10 redirects'],
  ['/plain', expect.stringContaining('webhooks are called over https only')],
  ['/empty', '0-length response with status code: 200 and content type: text/x'],
  ['/no-gzip', `${UNREADABLE}gzip: invalid header`],
  ['/half', `${UNREADABLE}unexpected EOF`],
])('%s fails', async (path, message) => {
  expect(await post(path)).toEqual(message)
})

test('a webhook that asks to wait longer than the call may take fails at its end', async () => {
  expect(await post('/late', 50)).toBe('Post "https://127.0.0.1/late?timeout=1s": context deadline exceeded')
})

test('a webhook of a kubeconfig may be called over plain http, and no other', async () => {
  const plain = createHttpServer((_, response) => void response.end('{"plain":true}'))
  try {
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`
    const config = {
      clusters: [{ name: 'c', cluster: { server: url } }],
      contexts: [{ name: 'x', context: { cluster: 'c' } }],
    }
    const target = await kubeconfigTarget({ ...config, 'current-context': 'x' }, '/kubeconfig')()
    expect((await webhooks.post(target, '{}', 5000)).toString()).toBe('{"plain":true}')
    await expect(webhooks.post({ url }, '{}', 5000)).rejects.toThrow('webhooks are called over https only')
  } finally {
    plain.closeAllConnections()
    plain.close()
  }
})
