import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { createFrontProxy } from './front-proxy.js'

test('replicas share the authority, and each has a certificate of it', async () => {
  const store = createMemoryStore()
  const pairs = await Promise.all([1, 2, 3].map(() => createFrontProxy(store)()))
  expect(new Set(pairs.map(({ ca }) => ca)).size).toBe(1)
  expect(new Set(pairs.map(({ client }) => client.key)).size).toBe(3)
  const authority = new X509Certificate(pairs[0]!.ca)
  for (const { client } of pairs) {
    const certificate = new X509Certificate(client.cert)
    expect(certificate.subject).toBe('CN=front-proxy-client')
    expect(certificate.ca).toBe(false)
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(certificate.verify(authority.publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(client.key))).toBe(true)
  }
})

test('it is created once, and again only if that failed', async () => {
  const store = createMemoryStore()
  let failures = 1
  const unsteady = {
    ...store,
    get: (key: string) => (failures-- > 0 ? Promise.reject(new Error('no answer')) : store.get(key)),
    create: store.create.bind(store),
  } as typeof store
  const frontProxy = createFrontProxy(unsteady)
  await expect(frontProxy()).rejects.toThrow('no answer')
  expect(await frontProxy()).toBe(await frontProxy())
})
