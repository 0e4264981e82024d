import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Http2Server } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_LOGGER } from '../../base/logger.js'
import { createMetrics } from '../../base/metrics.js'
import { message, messageTypes } from '../../storage/grpc.js'
import { accountTokens, issueToken, type TokenAuthority } from '../authn/account-tokens.js'
import { checkToken } from '../authn/authenticate.js'
import { keysDocument } from '../authn/issuer-documents.js'
import { type ExternalSigner, openExternalSigner } from './external-signer.js'

/** The signer's side of the messages. */
const method = messageTypes({
  SignJWTRequest: message({ claims: ['string', 1] }),
  SignJWTResponse: message({ header: ['string', 1], signature: ['string', 2] }),
  Empty: message({}),
  Timestamp: message({ seconds: ['int64', 1], nanos: ['int32', 2] }),
  Key: message({ keyId: ['string', 1], key: ['bytes', 2], excludeFromOidcDiscovery: ['bool', 3] }),
  FetchKeysResponse: message({
    keys: ['Key', 1, 'repeated'],
    dataTimestamp: ['Timestamp', 2],
    refreshHintSeconds: ['int64', 3],
  }),
  MetadataResponse: message({ maxTokenExpirationSeconds: ['int64', 1] }),
})
const SIGNED = method<object, { claims: string }>('', 'SignJWTResponse', 'SignJWTRequest')
const KEYS = method<object, object>('', 'FetchKeysResponse', 'Empty')
const METADATA = method<object, object>('', 'MetadataResponse', 'Empty')

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicBytes = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })

interface Mock {
  header: object
  key: KeyObject
  keys: { keyId: string; key: Buffer; excludeFromOidcDiscovery?: boolean }[]
  refreshHintSeconds: number
  maxTokenExpirationSeconds: number
  fetches: number
}

let folder: string
let path: string
let mock: Mock
let server: Http2Server | undefined
let signer: ExternalSigner | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signer-'))
  path = join(folder, 'signer.sock')
  const { privateKey, publicKey } = newKey()
  mock = {
    header: { alg: 'ES256', kid: 'one', typ: 'JWT' },
    key: privateKey,
    keys: [{ keyId: 'one', key: publicBytes(publicKey) }],
    refreshHintSeconds: 600,
    maxTokenExpirationSeconds: 3600,
    fetches: 0,
  }
})
afterEach(async () => {
  signer?.stop()
  signer = undefined
  await new Promise(resolve => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
  rmSync(folder, { recursive: true })
})

function answer(name: string, request: Buffer): Buffer {
  if (name === '/v1.ExternalJWTSigner/FetchKeys') {
    mock.fetches++
    const { keys, refreshHintSeconds } = mock
    return KEYS.encode({ keys, refreshHintSeconds, dataTimestamp: { seconds: 1_700_000_000, nanos: 500_000_000 } })
  }
  if (name === '/v1.ExternalJWTSigner/Metadata') return METADATA.encode(mock)
  const { claims } = SIGNED.decode(request.subarray(5))
  const header = Buffer.from(JSON.stringify(mock.header)).toString('base64url')
  const content = Buffer.from(`${header}.${claims}`)
  const signature = sign('sha256', content, { key: mock.key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return SIGNED.encode({ header, signature })
}

function listen(): Promise<void> {
  server = createServer()
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(answer(String(headers[':path']), Buffer.concat(chunks)))
    })
  })
  return new Promise(resolve => void server!.listen(path, resolve))
}

const metrics = createMetrics()
const open = async (): Promise<ExternalSigner> => (signer = await openExternalSigner({ path, metrics, log: NO_LOGGER }))

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'n', uid: 'u' } }
const authorityOf = (outside: ExternalSigner): TokenAuthority => ({
  issuers: ['https://issuer'],
  audiences: ['api'],
  signingKey: undefined,
  keys: [],
  outside,
  maxSeconds: outside.maxSeconds,
})
const issue = async (authority: TokenAuthority): Promise<string> =>
  issueToken({ account, audiences: ['api'], seconds: 600, bound: [], now: Date.now() }, authority)
const check = async (authority: TokenAuthority, token: string) =>
  checkToken([accountTokens(authority, async () => account, Date.now)], token, ['api'])

test('tokens are signed outside, and verified by the keys of the signer', async () => {
  await listen()
  const authority = authorityOf(await open())
  expect(authority.maxSeconds).toBe(3600)
  expect(await check(authority, await issue(authority))).toMatchObject({ ok: true })
  expect(keysDocument(authority)).toMatchObject({ keys: [{ kid: 'one', alg: 'ES256' }] })
  expect(await metrics.print()).toMatch(/fetch_keys_data_timestamp 1\.7000000005e\+0?9/)
})

test('a start waits for the signer', async () => {
  const opening = open()
  await listen()
  expect((await opening).known()).toHaveLength(1)
})

test('keys are read again for a token of an unknown one, and a token of none of them is refused', async () => {
  await listen()
  const authority = authorityOf(await open())
  const { privateKey, publicKey } = newKey()
  Object.assign(mock, { key: privateKey, header: { alg: 'ES256', kid: 'two', typ: 'JWT' } })
  const token = await issue(authority)
  expect(await check(authority, token)).toMatchObject({ ok: false })
  mock.keys.push({ keyId: 'two', key: publicBytes(publicKey) })
  expect(await check(authority, token)).toMatchObject({ ok: true })
})

test('a key that is excluded from discovery is not published, and signs nothing', async () => {
  mock.keys = [{ ...mock.keys[0]!, excludeFromOidcDiscovery: true }]
  await listen()
  const authority = authorityOf(await open())
  expect(keysDocument(authority)).toEqual({ keys: [] })
  await expect(issue(authority)).rejects.toThrow(
    'failed to generate token: while validating header: key used for signing JWT (kid: one) is excluded from OIDC discovery docs',
  )
})

test.each([
  [{ alg: 'ABC', kid: 'one', typ: 'JWT' }, 'bad signing algorithm "ABC"'],
  [{ alg: 'ES256', kid: 'one', typ: 'ABC' }, 'bad type'],
  [{ alg: 'ES256', typ: 'JWT' }, 'key id missing'],
  [{ alg: 'ES256', kid: 'x'.repeat(1025), typ: 'JWT' }, 'key id longer than 1 kb'],
  [{ alg: 'ES256', kid: 'one', typ: 'JWT', crit: [] }, 'while parsing header JSON: json: unknown field "crit"'],
])('a header %j is refused', async (header, why) => {
  mock.header = header
  await listen()
  await expect(issue(authorityOf(await open()))).rejects.toThrow(
    `failed to generate token: while validating header: ${why}`,
  )
})

test.each([
  [{ refreshHintSeconds: -1 }, 'found invalid refresh hint (-1s)'],
  [{ keys: [] }, 'found no keys'],
  [{ keys: [{ keyId: '', key: Buffer.from('x') }] }, 'found invalid public key id ""'],
  [{ keys: [{ keyId: 'a', key: Buffer.alloc(0) }] }, 'found empty public key'],
  [
    { maxTokenExpirationSeconds: 599 },
    'max token life supported by external-jwt-signer (599s) is less than acceptable',
  ],
])('a signer that answers %j ends the start', async (change, why) => {
  Object.assign(mock, change)
  await listen()
  await expect(open()).rejects.toThrow(why)
})
