import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Http2Server, type Http2Session } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { NO_LOGGER } from '../../base/logger.js'
import { createMetrics } from '../../base/metrics.js'
import { message, messageTypes } from '../grpc.js'
import { createKms } from './kms.js'
import { annotationsField } from './kms-messages.js'
import { createEncryptionMetrics } from './metrics.js'
import type { TransformContext } from './transformer.js'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-kms-'))
const socket = join(folder, 'kms.sock')
const CONTEXT: TransformContext = { resource: 'secrets', authenticated: Buffer.from('/registry/secrets/a/b') }
const DATA = Buffer.from('in the clear')
const MINUTE_MS = 60_000

/** The plugin's side of the messages. */
const method = messageTypes({
  StatusRequest: message({}),
  StatusResponse: message({ version: ['string', 1], healthz: ['string', 2], keyId: ['string', 3] }),
  EncryptRequest: message({ plaintext: ['bytes', 1] }),
  EncryptResponse: annotationsField(message({ ciphertext: ['bytes', 1], keyId: ['string', 2] }), 3),
  DecryptRequest: message({ ciphertext: ['bytes', 1] }),
  DecryptResponse: message({ plaintext: ['bytes', 1] }),
})
const STATUS = method<object, object>('', 'StatusResponse', 'StatusRequest')
const ENCRYPT = method<object, { plaintext: Buffer }>('', 'EncryptResponse', 'EncryptRequest')
const DECRYPT = method<object, { ciphertext: Buffer }>('', 'DecryptResponse', 'DecryptRequest')

let stop: () => Promise<void> = async () => {}
afterEach(() => stop())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A plugin that encrypts by inverting bits. */
async function startPlugin() {
  const plugin = { keyId: 'key-1', healthz: 'ok', decrypted: 0, isDisabled: false, authority: '' }
  const inverted = (bytes: Buffer): Buffer => bytes.map(byte => byte ^ 0xff) as Buffer
  const answer = (path: string, request: Buffer): Buffer => {
    if (path.endsWith('/Status')) {
      return STATUS.encode({ version: 'v2', healthz: plugin.healthz, keyId: plugin.keyId })
    }
    if (path.endsWith('/Encrypt')) {
      const { plaintext } = ENCRYPT.decode(request)
      const annotations = { 'version.example.com': Buffer.of(1) }
      return ENCRYPT.encode({ ciphertext: inverted(plaintext), keyId: plugin.keyId, annotations })
    }
    plugin.decrypted++
    return DECRYPT.encode({ plaintext: inverted(DECRYPT.decode(request).ciphertext) })
  }
  const sessions = new Set<Http2Session>()
  const server: Http2Server = createServer()
  server.on('session', session => sessions.add(session))
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    plugin.authority = headers[':authority']!
    const trailers = plugin.isDisabled ? { 'grpc-status': '9', 'grpc-message': 'key disabled' } : { 'grpc-status': '0' }
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.end(plugin.isDisabled ? undefined : answer(headers[':path']!, Buffer.concat(chunks).subarray(5)))
    })
  })
  await new Promise<void>(resolve => void server.listen(socket, resolve))
  return {
    plugin,
    close: () =>
      new Promise<void>(resolve => {
        for (const session of sessions) session.destroy()
        server.close(() => resolve())
      }),
  }
}

async function setUp() {
  const { plugin, close } = await startPlugin()
  const clock = { now: 1_000_000 }
  const opened: ReturnType<typeof createKms>[] = []
  const open = () => {
    const metrics = createEncryptionMetrics(createMetrics(), '')
    const options = { name: 'a', endpoint: `unix://${socket}`, timeoutMs: 1000, metrics, log: NO_LOGGER }
    const kms = createKms({ ...options, now: () => clock.now })
    opened.push(kms)
    return kms
  }
  stop = async () => {
    for (const kms of opened) kms.close()
    await close()
  }
  return { plugin, clock, open, close }
}

test('values are written without the plugin, and another server reads them with it, once', async () => {
  const { plugin, open } = await setUp()
  const [writer, reader] = [open(), open()]
  await Promise.all([writer.start(), reader.start()])
  const stored = [await writer.transformer.toStorage(DATA, CONTEXT), await writer.transformer.toStorage(DATA, CONTEXT)]
  expect(plugin.decrypted).toBe(0)
  for (const each of stored) {
    expect(await reader.transformer.fromStorage(each, CONTEXT)).toEqual({ data: DATA, isStale: false })
  }
  expect(plugin.decrypted).toBe(1)
})

test('under a new key there is a new seed, and what was written before is stale', async () => {
  const { plugin, clock, open } = await setUp()
  const kms = open()
  await kms.start()
  const before = await kms.transformer.toStorage(DATA, CONTEXT)
  plugin.keyId = 'key-2'
  clock.now += MINUTE_MS
  await kms.check()
  expect(await kms.transformer.fromStorage(before, CONTEXT)).toEqual({ data: DATA, isStale: true })
  const after = await kms.transformer.toStorage(DATA, CONTEXT)
  expect(await kms.transformer.fromStorage(after, CONTEXT)).toEqual({ data: DATA, isStale: false })
})

test('without the plugin, values are written for three minutes and read for ever', async () => {
  const { clock, open, close } = await setUp()
  const kms = open()
  await kms.start()
  const stored = await kms.transformer.toStorage(DATA, CONTEXT)
  await close()
  clock.now += 3 * MINUTE_MS
  await kms.transformer.toStorage(DATA, CONTEXT)
  clock.now += 1
  expect(() => kms.transformer.toStorage(DATA, CONTEXT)).toThrow(/expired at/)
  expect(await kms.transformer.fromStorage(stored, CONTEXT)).toMatchObject({ data: DATA })
  stop = async () => kms.close()
})

test('the check says what is wrong with the plugin', async () => {
  const { plugin, clock, open } = await setUp()
  const kms = open()
  plugin.healthz = 'on fire'
  await expect(kms.check()).rejects.toThrow(
    'kmsv2 Provider a is not healthy, error: got unexpected healthz status: on fire',
  )
  plugin.healthz = 'ok'
  plugin.keyId = ''
  clock.now += MINUTE_MS
  await expect(kms.check()).rejects.toThrow('got invalid KMSv2 KeyID hash "": keyID is empty')
  expect(() => kms.transformer.toStorage(DATA, CONTEXT)).not.toThrow()
})

test('a check that is answered from the one before has the error of the plugin alone', async () => {
  const { plugin, clock, open } = await setUp()
  const kms = open()
  plugin.isDisabled = true
  const error = 'rpc error: code = FailedPrecondition desc = key disabled'
  const first = `failed to perform status section of the healthz check for KMS Provider a, error: ${error}`
  await expect(kms.check()).rejects.toThrow(first)
  await expect(kms.check()).rejects.toThrow(/^rpc error: code = FailedPrecondition desc = key disabled$/)
  clock.now += MINUTE_MS
  await expect(kms.check()).rejects.toThrow(first)
})

test('calls over a socket are addressed to localhost, without a port', async () => {
  const { plugin, open } = await setUp()
  await open().check()
  expect(plugin.authority).toBe('localhost')
})
