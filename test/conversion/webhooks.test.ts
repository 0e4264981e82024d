// Calls of webhooks over network connections.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWebhooks, type WebhookOptions, type Webhooks } from '../../src/webhook/client.js'
import { startWebhookServer, type WebhookServer } from './webhook-server.js'

const REVIEW = JSON.stringify({ request: { uid: 'u', desiredAPIVersion: 'g/v1', objects: [{ hostPort: 'h:1' }] } })
const SERVICE = { namespace: 'ns', name: 'converter', path: '/convert' }
const TIME = 20_000

let server: WebhookServer
let webhooks: Webhooks

function start(options?: WebhookOptions): Webhooks {
  webhooks = createWebhooks(options)
  return webhooks
}

beforeEach(async () => {
  server = await startWebhookServer(['127.0.0.1', 'converter.ns.svc'])
})
afterEach(async () => {
  webhooks.close()
  await server.stop()
})

const urlConfig = () => ({ url: `https://127.0.0.1:${server.port}/convert`, caBundle: server.caBundle })
const read = (answer: Buffer) => JSON.parse(answer.toString()).response.convertedObjects

describe('a webhook', () => {
  it('is called at its URL', async () => {
    expect(read(await start().post(urlConfig(), REVIEW, TIME))).toMatchObject([{ host: 'h', port: '1' }])
  })

  it('is called over the connection of the previous call', async () => {
    start()
    for (let i = 0; i < 5; i++) await webhooks.post(urlConfig(), REVIEW, TIME)
    expect(server.connections).toBe(1)
  })

  it('is called again when it has closed a reused connection', async () => {
    start()
    await webhooks.post(urlConfig(), REVIEW, TIME)
    server.dropConnections()
    await webhooks.post(urlConfig(), REVIEW, TIME)
    expect(server.calls).toEqual([1, 1])
  })

  it('is found by the name of its service, and its certificate must be for that name', async () => {
    const findService = async () => ({ host: '127.0.0.1', port: server.port })
    const config = { service: SERVICE, caBundle: server.caBundle }
    expect(read(await start({ findService }).post(config, REVIEW, TIME))).toHaveLength(1)
    const other = { ...config, service: { ...SERVICE, name: 'other' } }
    await expect(webhooks.post(other, REVIEW, TIME)).rejects.toThrow(
      /^Post "https:\/\/other\.ns\.svc:443\/convert\?timeout=20s": tls: failed to verify certificate: x509: /,
    )
  })

  it('is found by a host override before other ways', async () => {
    const hosts = new Map([['converter.ns.svc', { host: '127.0.0.1', port: server.port }]])
    const findService = async () => {
      throw new Error('the service must not be looked up')
    }
    const config = { service: SERVICE, caBundle: server.caBundle }
    expect(read(await start({ hosts, findService }).post(config, REVIEW, TIME))).toHaveLength(1)
    const byUrl = { url: 'https://converter.ns.svc/convert', caBundle: server.caBundle }
    expect(read(await webhooks.post(byUrl, REVIEW, TIME))).toHaveLength(1)
  })

  it('that does not answer in time is an error', async () => {
    server.holdUntil(new Promise(() => {}))
    await expect(start().post(urlConfig(), REVIEW, 50)).rejects.toThrow(
      `Post "https://127.0.0.1:${server.port}/convert?timeout=1s": context deadline exceeded`,
    )
  })

  it('that does not answer does not delay stopping', async () => {
    server.holdUntil(new Promise(() => {}))
    const calling = start().post(urlConfig(), REVIEW, TIME)
    await expect.poll(() => server.calls.length).toBe(1)
    webhooks.close()
    await expect(calling).rejects.toThrow('the server is stopping')
  })

  it('with an untrusted certificate is refused', async () => {
    const { url } = urlConfig()
    const why = 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    await expect(start().post({ url }, REVIEW, TIME)).rejects.toThrow(why)
  })

  it.each([false, true])('is trusted when the bundle is its own certificate, self-signed: %s', async selfSigned => {
    await server.stop()
    server = await startWebhookServer(['127.0.0.1'], { selfSigned })
    const config = { ...urlConfig(), caBundle: server.ownBundle }
    expect(read(await start().post(config, REVIEW, TIME))).toHaveLength(1)
  })

  it('is refused when the bundle is another certificate', async () => {
    const other = await startWebhookServer()
    await other.stop()
    const config = { ...urlConfig(), caBundle: other.ownBundle }
    await expect(start().post(config, REVIEW, TIME)).rejects.toThrow('tls: failed to verify certificate: x509: ')
  })

  it('with an invalid CA bundle cannot be called', async () => {
    const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----').toString('base64')
    await expect(start().post({ ...urlConfig(), caBundle }, REVIEW, TIME)).rejects.toThrow('Post "https://')
  })

  it('that is unreachable is reported with its address', async () => {
    await server.stop()
    await expect(start().post(urlConfig(), REVIEW, TIME)).rejects.toThrow(
      `dial tcp 127.0.0.1:${server.port}: connect: connection refused`,
    )
  })

  it('whose service is missing is reported with the missing object', async () => {
    const findService = async () => {
      throw new Error('service "converter" not found')
    }
    await expect(start({ findService }).post({ service: SERVICE }, REVIEW, TIME)).rejects.toThrow(
      'Post "https://converter.ns.svc:443/convert?timeout=20s": service "converter" not found',
    )
  })
})

describe('a webhook that speaks HTTP/2', () => {
  beforeEach(async () => {
    await server.stop()
    server = await startWebhookServer(['127.0.0.1', 'converter.ns.svc'], { http2: true })
    start()
  })
  const call = (time = TIME) => webhooks.post(urlConfig(), REVIEW, time)

  it('has one connection for calls side by side', async () => {
    await call()
    const answers = await Promise.all(Array.from({ length: 10 }, () => call()))
    expect(answers.every(each => read(each).length === 1)).toBe(true)
    expect([server.connections, new Set(server.versions)]).toEqual([1, new Set(['2.0'])])
  })

  it('answers calls that begin before there is a connection', async () => {
    await Promise.all(Array.from({ length: 10 }, () => call()))
    const { connections } = server
    await Promise.all(Array.from({ length: 10 }, () => call()))
    expect([server.calls.length, server.connections]).toEqual([20, connections])
  })

  it.each(['sayGoAway', 'dropConnections'] as const)('is called over a new connection after %s', async end => {
    await call()
    server[end]()
    expect(read(await call())).toHaveLength(1)
    expect(server.connections).toBe(2)
  })

  it('that does not answer in time is called over another connection next time', async () => {
    await call()
    server.holdUntil(new Promise(() => {}))
    await expect(call(50)).rejects.toThrow('context deadline exceeded')
    server.holdUntil(undefined)
    await call()
    expect(server.connections).toBe(2)
  })

  it("that resets a stream is an error in Go's words, and the connection is used again", async () => {
    await call()
    server.resetWith(2)
    await expect(call()).rejects.toThrow(
      'convert?timeout=20s": stream error: stream ID 3; INTERNAL_ERROR; received from peer',
    )
    server.resetWith(undefined)
    await call()
    expect(server.connections).toBe(1)
  })

  it('that refuses every stream is called a few times only', async () => {
    server.resetWith(7)
    await expect(call()).rejects.toThrow('http2: client connection lost')
    expect(server.versions.length).toBeLessThan(10)
  })

  it('is called over HTTP/1.1 by the name of its service', async () => {
    const findService = async () => ({ host: '127.0.0.1', port: server.port })
    webhooks.close()
    await start({ findService }).post({ service: SERVICE, caBundle: server.caBundle }, REVIEW, TIME)
    expect(server.versions).toEqual(['1.1'])
  })
})
