// Histories of concurrent clients on etcd while it is restarted, killed, paused and disconnected during writes and
// watches. Failures begin and end at points in the history, not after fixed times.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createWatchCache } from '../../src/storage/cache/watch-cache.js'
import { openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import type { Store } from '../../src/storage/store.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'
import { expectSound } from './history/check.js'
import type { History } from './history/history.js'
import { PREFIX, startWorkload, type Workload } from './history/workload.js'

/** A limit against endless tests only: on a busy machine everything takes several times as long. */
const TEST_MS = 60_000
/** The timeout of operations: short, so that failures show soon. */
const OPERATION_MS = 500

let etcd: Etcd
let tests = 0

describe.skipIf(etcdMissing())('histories on etcd', () => {
  beforeAll(async () => {
    etcd = await startEtcd()
  })
  // A failed test may have left it stopped.
  beforeEach(() => (etcd.pid === undefined ? etcd.restart() : undefined))
  afterAll(() => etcd?.stop())

  describe.each<[name: string, on: (store: Store) => Store]>([
    ['bare', store => store],
    ['with a watch cache', store => createWatchCache(store, PREFIX, { waitTimeout: 200, retryAfter: 20 })],
  ])('%s', (_, on) => {
    it('are sound when etcd is restarted and killed', { timeout: TEST_MS }, async () => {
      const { workload } = await start(on)
      await workload.acknowledged(150)
      await etcd.restart()
      await workload.acknowledged(150)
      await etcd.kill()
      await workload.failed(5)
      await etcd.restart()
      await workload.acknowledged(150)
      expectSound(await workload.finish())
    })

    it('are sound when etcd is stopped for longer than operations may take', { timeout: TEST_MS }, async () => {
      const { workload } = await start(on)
      for (let i = 0; i < 2; i++) {
        await workload.acknowledged(100)
        etcd.pause()
        onTestFinished(() => etcd.resume())
        await workload.failed(8)
        await untilUnknown(workload)
        etcd.resume()
      }
      await workload.acknowledged(100)
      const history = await workload.finish()
      expectSound(history)
      expect(unknownOutcomes(history)).toBeGreaterThan(0)
    })

    it('are sound when connections break', { timeout: TEST_MS }, async () => {
      const { workload, proxies } = await start(on)
      for (let i = 0; i < 5; i++) {
        await workload.acknowledged(40)
        proxies[0]!.cut()
      }
      await workload.acknowledged(40)
      await proxies[0]!.refuse()
      await workload.failed(5)
      await proxies[0]!.heal()
      await workload.acknowledged(100)
      expectSound(await workload.finish())
    })

    it('are sound when requests and responses are lost or delayed', { timeout: TEST_MS }, async () => {
      const { workload, proxies } = await start(on)
      for (const error of ['to-client', 'to-server', 'both'] as const) {
        await workload.acknowledged(60)
        if (error === 'both') proxies[0]!.swallow()
        else proxies[0]!.stall(error)
        await workload.failed(8)
        if (error === 'to-client') await untilUnknown(workload)
        await proxies[0]!.heal()
      }
      await workload.acknowledged(100)
      const history = await workload.finish()
      expectSound(history)
      expect(unknownOutcomes(history)).toBeGreaterThan(0)
    })

    it('are sound with two processes, one of them disconnected', { timeout: TEST_MS }, async () => {
      const { workload, proxies } = await start(on, 2)
      await workload.acknowledged(150)
      await proxies[1]!.refuse()
      await workload.acknowledged(150)
      await proxies[1]!.heal()
      proxies[0]!.cut()
      await workload.acknowledged(150)
      expectSound(await workload.finish())
    })

    it('are sound when history that a process has missed is compacted', { timeout: TEST_MS }, async () => {
      const { workload, proxies } = await start(on, 2)
      await workload.acknowledged(100)
      await workload.compact()
      await proxies[1]!.refuse()
      await workload.acknowledged(100)
      await workload.compact()
      await proxies[1]!.heal()
      await workload.acknowledged(100)
      const history = await workload.finish()
      expectSound(history)
      const ends = history.watchers.flatMap(({ steps }) => steps.filter(step => step.is === 'ended'))
      expect(ends.map(end => end.code)).toContain('compacted')
    })
  })

  it('are sound when etcd is stopped until the connection is closed', { timeout: TEST_MS }, async () => {
    const { workload, proxies } = await start(store => store)
    await workload.acknowledged(100)
    const { accepted } = proxies[0]!
    etcd.pause()
    onTestFinished(() => etcd.resume())
    await workload.recorder.until('the client connects anew', () => proxies[0]!.accepted > accepted)
    etcd.resume()
    await workload.acknowledged(100)
    expectSound(await workload.finish())
  })
})

/** Of writes that were given up; those that run are not known yet, either. */
const unknownOutcomes = ({ operations }: History): number =>
  operations.filter(({ outcome, answeredAt }) => outcome.is === 'unknown' && answeredAt !== undefined).length

/** Reads fail first: a write that was sent is waited for twice as long, and then its outcome is unknown. */
const untilUnknown = ({ recorder }: Workload): Promise<void> =>
  recorder.until('the outcome of a write is unknown', () => unknownOutcomes(recorder.history) > 0)

/** A workload on stores that connect to etcd, each through its own proxy, under one new prefix. */
async function start(on: (store: Store) => Store, count = 1): Promise<{ workload: Workload; proxies: Proxy[] }> {
  const port = Number(new URL(etcd.endpoints[0]!).port)
  const prefix = `/test-${++tests}`
  const places = await Promise.all(
    Array.from({ length: count }, async () => {
      const proxy = await startProxy({ port })
      const endpoints = [`http://127.0.0.1:${proxy.port}`]
      const bottom = await openEtcdStore({ endpoints, prefix, historyMs: 0, timeoutMs: OPERATION_MS })
      const top = on(bottom)
      onTestFinished(async () => {
        await top.close()
        await bottom.close()
        await proxy.close()
      })
      return { proxy, bottom, top }
    }),
  )
  const workload = startWorkload({
    stores: places.map(place => () => place.top),
    after: await places[0]!.bottom.revision(),
    promptProgress: places.every(({ bottom }) => bottom.promptProgress),
  })
  return { workload, proxies: places.map(({ proxy }) => proxy) }
}
