import { expect, test } from 'vitest'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { portClaims } from './port-claims.js'

test('a port is claimed once, by whichever process is first', async () => {
  const store = createMemoryStore()
  const processes = [portClaims(store), portClaims(store), portClaims(store)]
  const claimed = await Promise.all(processes.map(each => each.claim(30_000)))
  expect(claimed.filter(Boolean)).toEqual([true])
  await processes[0]!.release(30_000)
  expect(await processes[1]!.claim(30_000)).toBe(true)
})

test('claims of different ports do not get in the way of each other', async () => {
  const store = createMemoryStore()
  const ports = [30_000, 30_007, 30_008, 32_767]
  expect(await Promise.all(ports.map(port => portClaims(store).claim(port)))).toEqual([true, true, true, true])
  expect(await Promise.all(ports.map(port => portClaims(store).has(port)))).toEqual([true, true, true, true])
  expect(await portClaims(store).has(30_001)).toBe(false)
})

test('is kept as Kubernetes keeps it: a bit for each port, the first one lowest', async () => {
  const store = createMemoryStore()
  await portClaims(store).claim(30_000)
  await portClaims(store).claim(30_009)
  const { value } = (await store.get('/ranges/servicenodeports'))!
  const { kind, range, data } = JSON.parse(value.toString()) as Record<string, string>
  expect({ kind, range, data: Buffer.from(data!, 'base64').toString('hex') }).toEqual({
    kind: 'RangeAllocation',
    range: '30000-32767',
    data: '0201',
  })
})

test('a reset frees ports that no service has, unless other processes claim ports', async () => {
  const claims = portClaims(createMemoryStore())
  await claims.claim(30_000)
  await claims.reset(new Set([30_001]), false)
  expect([await claims.has(30_000), await claims.has(30_001)]).toEqual([true, true])
  await claims.reset(new Set([30_001]), true)
  expect([await claims.has(30_000), await claims.has(30_001)]).toEqual([false, true])
})

test('claims that come together are written together, and a port is still claimed once', async () => {
  const store = createMemoryStore()
  const claims = portClaims(store)
  const ports = Array.from({ length: 50 }, (_, index) => 30_000 + (index % 40))
  const claimed = await Promise.all(ports.map(port => claims.claim(port)))
  expect(claimed.filter(Boolean)).toHaveLength(40)
  // The first claim is alone; the others wait for it.
  expect(await store.revision()).toBe(2)
})

test('when a write fails, the claims of it fail, and later ones work', async () => {
  const store = createMemoryStore()
  let isBroken = true
  const claims = portClaims({
    ...store,
    get: (key, at) => (isBroken ? Promise.reject(new Error('broken')) : store.get(key, at)),
  })
  await expect(Promise.all([claims.claim(30_000), claims.claim(30_001)])).rejects.toThrow('broken')
  isBroken = false
  expect(await claims.claim(30_000)).toBe(true)
})

test('ports keep their claims when the range changes, as far as it has them', async () => {
  const store = createMemoryStore()
  const before = portClaims(store)
  for (const port of [30_000, 30_005, 32_767]) await before.claim(port)
  const later = portClaims(store, { from: 30_005, to: 40_000 })
  expect([await later.has(30_005), await later.has(30_006), await later.has(32_767)]).toEqual([true, false, true])
  expect(await later.claim(39_999)).toBe(true)
  expect(later.takenIn(await store.get('/ranges/servicenodeports'))).toEqual(new Set([30_005, 32_767, 39_999]))
  const earlier = portClaims(store, { from: 20_000, to: 31_000 })
  expect(earlier.takenIn(await store.get('/ranges/servicenodeports'))).toEqual(new Set([30_005]))
})
