import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KubeconfigAccess } from '../../authoring/kubeconfig-access.js'
import { makeWebhookCertificates } from '../../server/webhook-certificates.js'
import { watchReadiness } from './readiness.js'

const TIMES = { intervalMs: 5, timeoutMs: 500 }

let server: Server
let answer: RequestListener = (_, response) => void response.end()
let access: KubeconfigAccess
let port: number
let stop = (): void => {}
const seen: string[] = []

beforeEach(async () => {
  const { ca, cert, key } = await makeWebhookCertificates()
  const tls = { ca: Buffer.from(ca), cert: undefined, key: undefined, servername: undefined, rejectUnauthorized: true }
  access = { url: new URL('https://127.0.0.1'), tls, token: 't' }
  server = createServer({ cert, key }, (request, response) => answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  seen.length = 0
})
afterEach(() => {
  stop()
  server.closeAllConnections()
  server.close()
})

function watch(): void {
  const changed = (readiness: string, reason: string): void => void seen.push(`${readiness} ${reason}`)
  stop = watchReadiness({ host: '127.0.0.1', port }, access, changed, TIMES)
}

/** Answers in this way from now on, and waits for what is known then. */
async function expectKnown(given: RequestListener, expected: string): Promise<void> {
  answer = given
  await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toContain(expected)
}

const says =
  (code: number, text: string): RequestListener =>
  (_, response) =>
    void response.writeHead(code).end(text)
const hang: RequestListener = () => {}

test('the readiness of a server follows its answers', async () => {
  watch()
  await expectKnown(says(200, 'ok'), 'ready ')
  await expectKnown(says(503, '[+]ping ok\n[-]etcd failed: no connection\n'), 'away [-]etcd failed')
  await expectKnown(says(200, 'ok'), 'ready ')
  await expectKnown(hang, 'away no answer came in time')
  await expectKnown(says(200, 'ok'), 'ready ')
  await expectKnown(says(503, '[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'), 'stopping ')
  server.closeAllConnections()
  server.close()
  await expectKnown(hang, 'away connect ECONNREFUSED')
})

test('one request without an answer changes nothing', async () => {
  let requests = 0
  answer = (request, response) => (requests++ === 1 ? hang(request, response) : says(200, 'ok')(request, response))
  watch()
  await expect.poll(() => requests, { timeout: 10_000 }).toBeGreaterThan(3)
  expect(seen).toEqual(['ready '])
})

test('the server is asked with the token', async () => {
  let asked: unknown
  answer = ({ headers, url }, response) => {
    asked = `${url} ${headers.authorization}`
    response.end()
  }
  watch()
  await expect.poll(() => asked, { timeout: 10_000 }).toBe('/readyz Bearer t')
})

test('a server with a certificate of another authority is away', async () => {
  const { ca } = await makeWebhookCertificates()
  access = { ...access, tls: { ...access.tls, ca: Buffer.from(ca) } }
  answer = says(200, 'ok')
  watch()
  await expect.poll(() => seen[0], { timeout: 10_000 }).toContain('away ')
})
