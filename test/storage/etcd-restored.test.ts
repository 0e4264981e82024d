// An etcd whose data is replaced by an older copy while a cache runs, in which other writers have reached the same
// revisions again before the cache is connected: nothing of the lost history is shown.
import { cpSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWatchCache } from '../../src/storage/cache/watch-cache.js'
import { type EtcdStore, openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import { recordWatch } from '../../src/storage/watch-recorder.suite.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'

describe.skipIf(etcdMissing())('an etcd that was restored from a copy', () => {
  let etcd: Etcd
  let proxy: Proxy
  let store: EtcdStore
  let backup: string
  const reasons: string[] = []

  beforeAll(async () => {
    etcd = await startEtcd()
    backup = `${etcd.dataDir}-copy`
    proxy = await startProxy({ port: Number(new URL(etcd.endpoints[0]!).port) })
    store = await openEtcdStore({
      endpoints: [`http://127.0.0.1:${proxy.port}`],
      historyMs: 0,
      onReplaced: reason => reasons.push(reason),
    })
  }, 30_000)
  afterAll(async () => {
    await store?.close()
    await proxy?.close()
    await etcd?.stop()
    rmSync(backup, { recursive: true, force: true })
  })

  test('is noticed by a watch that begins again, and the cache reads everything anew', {
    timeout: 30_000,
  }, async () => {
    const cache = createWatchCache(store, '/pods/', { retryAfter: 10 })
    await store.create('/pods/kept', bytes('1'))
    await proxy.refuse()
    await etcd.kill()
    cpSync(etcd.dataDir, backup, { recursive: true })
    await etcd.restart()
    await proxy.heal()

    await store.create('/pods/lost', bytes('1'))
    expect((await cache.range('/pods/')).entries.map(({ key }) => key)).toEqual(['/pods/kept', '/pods/lost'])
    const seen = recordWatch(cache, '/pods/', await cache.revision())
    await store.create('/pods/lost-too', bytes('1'))
    await seen.count(1)
    const lostAt = await store.revision()

    await proxy.refuse()
    await etcd.kill()
    rmSync(etcd.dataDir, { recursive: true })
    cpSync(backup, etcd.dataDir, { recursive: true })
    await etcd.restart()
    const other = await openEtcdStore({ endpoints: etcd.endpoints, historyMs: 0 })
    while ((await other.revision()) <= lostAt) await other.create(`/pods/new-${await other.revision()}`, bytes('2'))
    const expected = (await other.range('/pods/')).entries.map(({ key }) => key)
    await other.close()
    await proxy.heal()

    expect((await seen.end()).code).toBe('compacted')
    expect(reasons).toEqual([expect.stringContaining('the data of etcd was replaced: the write of revision')])
    expect((await cache.range('/pods/')).entries.map(({ key }) => key)).toEqual(expected)
    await cache.close()
  })
})

const bytes = (text: string): Buffer => Buffer.from(text)
