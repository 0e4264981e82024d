import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { createMemoryStore } from '../memory/memory-store.js'
import type { Store } from '../store.js'
import { describeStore } from '../store.suite.js'
import { isUntransformable, readUntransformable } from '../untransformable.js'
import { aesCbc, aesGcm, aesGcmOfSeed } from './aes.js'
import { createEncryptedStore } from './encrypted-store.js'
import { createEncryptionMetrics } from './metrics.js'
import { secretbox } from './secretbox.js'
import { IDENTITY, type PrefixTransformer, prefixTransformers, type Transformer } from './transformer.js'

const KEY = Buffer.alloc(32, 1)
const OTHER_KEY = Buffer.alloc(32, 2)
const { transformation } = createEncryptionMetrics(createMetrics(), '')

const CBC: PrefixTransformer = { prefix: 'k8s:enc:aescbc:v1:key1:', transformer: aesCbc(KEY) }
const GCM: PrefixTransformer = { prefix: 'k8s:enc:aesgcm:v1:key1:', transformer: aesGcm(KEY) }
const BOX: PrefixTransformer = { prefix: 'k8s:enc:secretbox:v1:key1:', transformer: secretbox(KEY) }
const PLAIN: PrefixTransformer = { prefix: '', transformer: IDENTITY }
const OWN = '/binnacle/'

function setUp(...transformers: PrefixTransformer[]) {
  const below = createMemoryStore()
  let chain = prefixTransformers(transformers, 'no matching prefix found', transformation)
  const store = createEncryptedStore(below, key => ({
    transformer: chain,
    context: { resource: 'secrets', authenticated: Buffer.from(`/registry${key}`) },
    isObject: !key.startsWith(OWN),
  }))
  const use = (...next: PrefixTransformer[]): void => {
    chain = prefixTransformers(next, 'no matching prefix found', transformation)
  }
  return { below, store, use }
}

const open = (...transformers: PrefixTransformer[]) => {
  const { store } = setUp(...transformers)
  return Promise.resolve({ store, readsTakeTime: true })
}

/** As a KMS plugin that must be asked. Values are as long as they were, as the tests of pages expect. */
const slow: Transformer = {
  toStorage: async (data, context) => turn().then(() => IDENTITY.toStorage(data, context)),
  fromStorage: async (data, context) => turn().then(() => IDENTITY.fromStorage(data, context)),
}

describeStore('an encrypted store', () => open(PLAIN))
describeStore('an encrypted store whose keys have to be asked for', () => open({ prefix: '', transformer: slow }))

describe.each([
  ['CBC', CBC],
  ['GCM', GCM],
  ['secretbox', BOX],
  ['GCM with a seed', { prefix: 'k8s:enc:kms:v2:a:', transformer: aesGcmOfSeed(KEY) }],
])('%s', (_, provider) => {
  test('the store has other bytes than its reader', async () => {
    const { below, store } = setUp(provider)
    await store.create('/secrets/a/b', Buffer.from('in the clear'))
    const stored = (await below.get('/secrets/a/b'))!.value.toString('latin1')
    expect(stored.startsWith(provider.prefix)).toBe(true)
    expect(stored).not.toContain('clear')
    expect((await store.get('/secrets/a/b'))!.value.toString()).toBe('in the clear')
  })

  test('damaged bytes stand for the reason, and other values can be read', async () => {
    const { below, store } = setUp(provider)
    await store.create('/secrets/a/b', Buffer.from('x'.repeat(40)))
    await store.create('/secrets/a/c', Buffer.from('good'))
    const { value, revision } = (await below.get('/secrets/a/b'))!
    await below.update('/secrets/a/b', value.subarray(0, -1), revision)
    const { entries } = await store.range('/secrets/')
    expect(isUntransformable(entries[0]!.value)).toBe(true)
    expect(readUntransformable(entries[0]!.value).storedAt).toBe('/registry/secrets/a/b')
    expect(entries[1]!.value.toString()).toBe('good')
  })
})

test('a value whose key has gone is known to be unreadable, until it is written again or deleted', async () => {
  const { store, use } = setUp(CBC)
  for (const name of ['a', 'b', 'c']) await store.create(`/secrets/${name}`, Buffer.from('old'))
  await store.create(`${OWN}key`, Buffer.from('of the server'))
  use(GCM)
  await store.create('/secrets/new', Buffer.from('new'))
  expect(store.isUnreadable('/secrets/a')).toBe(false)
  await store.findUnreadable()
  const unreadable = (): string[] => ['a', 'b', 'c', 'new'].filter(name => store.isUnreadable(`/secrets/${name}`))
  expect(unreadable()).toEqual(['a', 'b', 'c'])
  await store.update('/secrets/a', Buffer.from('newer'), 1)
  await store.delete('/secrets/b', 2)
  for (const name of ['a', 'b', 'c']) await store.get(`/secrets/${name}`)
  expect(unreadable()).toEqual(['c'])
  use(GCM, CBC)
  await store.findUnreadable()
  expect(unreadable()).toEqual([])
})

test('a value that was moved to another key cannot be decrypted', async () => {
  const { below, store } = setUp(GCM)
  await store.create('/secrets/a/b', Buffer.from('x'))
  await below.create('/secrets/a/c', (await below.get('/secrets/a/b'))!.value)
  expect(readUntransformable((await store.get('/secrets/a/c'))!.value).reason).toBe(
    'cipher: message authentication failed',
  )
})

test('a later provider reads, and what it reads is stale', async () => {
  const { store, use } = setUp(CBC)
  await store.create('/secrets/a/b', Buffer.from('x'))
  expect(await store.isStale!('/secrets/a/b')).toBe(false)
  use(BOX, { ...CBC, transformer: aesCbc(OTHER_KEY) }, CBC, PLAIN)
  expect((await store.get('/secrets/a/b'))!.value.toString()).toBe('x')
  expect(await store.isStale!('/secrets/a/b')).toBe(true)
  use(PLAIN)
  expect(readUntransformable((await store.get('/secrets/a/b'))!.value).reason).toBe('no matching prefix found')
})

test('a value in the clear needs identity', async () => {
  const { below, store, use } = setUp(CBC)
  await below.create('/secrets/a/b', Buffer.from('{}'))
  expect(isUntransformable((await store.get('/secrets/a/b'))!.value)).toBe(true)
  use(CBC, PLAIN)
  expect((await store.get('/secrets/a/b'))!.value.toString()).toBe('{}')
  expect(await store.isStale!('/secrets/a/b')).toBe(true)
})

test("the server's own keys are read in the clear until they are written again, and fail loudly", async () => {
  const { below, store, use } = setUp(CBC)
  await below.create('/binnacle/key', Buffer.from('pem'))
  expect((await store.get('/binnacle/key'))!.value.toString()).toBe('pem')
  expect(await store.isStale!('/binnacle/key')).toBe(true)
  await store.update('/binnacle/key', Buffer.from('pem'), 1)
  use(GCM)
  await expect(store.get('/binnacle/key')).rejects.toMatchObject({ code: 'corrupt' })
})

test('a value that is written for a time is encrypted, too', async () => {
  const below = createMemoryStore()
  const transformer = prefixTransformers([CBC], 'no matching prefix found', transformation)
  const shared: Store = { ...below, putWithTtl: async (key, value) => void (await below.create(key, value)) }
  const store = createEncryptedStore(shared, key => {
    return { transformer, context: { resource: 'a', authenticated: Buffer.from(key) }, isObject: false }
  })
  await store.putWithTtl!('/masterleases/a', Buffer.from('in the clear'), 15)
  expect((await below.get('/masterleases/a'))!.value.toString('latin1')).not.toContain('clear')
  expect((await store.get('/masterleases/a'))!.value.toString()).toBe('in the clear')
  expect(createEncryptedStore(below, () => expect.unreachable()).putWithTtl).toBeUndefined()
})

test('a write that cannot be encrypted is refused', async () => {
  const failing: Transformer = { ...IDENTITY, toStorage: () => Promise.reject(new Error('expired')) }
  const { below, store } = setUp({ prefix: 'k8s:enc:kms:v2:a:', transformer: failing })
  await expect(store.create('/secrets/a/b', Buffer.from('x'))).rejects.toMatchObject({
    code: 'not-encrypted',
    message: 'expired',
  })
  expect(await below.get('/secrets/a/b')).toBeUndefined()
})
