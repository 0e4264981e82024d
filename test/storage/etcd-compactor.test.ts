// All processes together keep the history on etcd for a limited time.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEtcdClient, type EtcdClient } from '../../src/storage/etcd/client/etcd-client.js'
import { CompareTarget, RANGE, TXN } from '../../src/storage/etcd/client/messages.js'
import { type EtcdStore, openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import type { Revision } from '../../src/storage/store.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'

const CLOCK = Buffer.from('compact_rev_key')

describe.skipIf(etcdMissing())('history on etcd', () => {
  let etcd: Etcd
  let raw: EtcdClient

  beforeAll(async () => {
    etcd = await startEtcd()
    raw = createEtcdClient({ endpoints: etcd.endpoints })
  })
  afterAll(async () => {
    await raw?.close()
    await etcd?.stop()
  })

  async function open(historyMs: number): Promise<EtcdStore> {
    const store = await openEtcdStore({ endpoints: etcd.endpoints, historyMs })
    onTestFinished(() => store.close())
    return store
  }

  const clock = async () => {
    const { kvs } = await raw.call(RANGE, { key: CLOCK })
    return { time: kvs[0]?.version ?? 0, noted: Number(kvs[0]?.value.toString() ?? 0) }
  }

  test('is compacted after the interval to the revision that was the latest then', async () => {
    const store = await open(50)
    const old = await write(store)
    await write(store)
    await until(() => isCompacted(store, old))
    expect((await clock()).noted).toBeGreaterThanOrEqual(old)
  })

  test('is compacted once per interval, with any number of processes', async () => {
    const before = (await clock()).time
    const started = Date.now()
    const stores = await Promise.all([open(200), open(200), open(200)])
    const old = await write(stores[0])
    await until(() => isCompacted(stores[0], old))
    const ticks = (await clock()).time - before
    // Without coordination each process would advance the clock once per interval.
    expect(ticks).toBeLessThanOrEqual(Math.ceil((Date.now() - started) / 200) + 1)
  })

  test('is left to a faster process, such as a kube-apiserver', async () => {
    const other = await open(0)
    const fast = setInterval(() => void tick(raw), 20)
    onTestFinished(() => clearInterval(fast))
    const store = await open(60)
    const revision = await write(other)
    const { time } = await clock()
    await until(async () => (await clock()).time > time + 12)
    // It never finds the clock at the time that it read, so it never compacts.
    expect(await isCompacted(store, revision)).toBe(false)
  })

  test('is not compacted if compaction is switched off', async () => {
    const before = await clock()
    const store = await open(0)
    await write(store)
    await write(store)
    expect(await clock()).toEqual(before)
  })
})

let writes = 0

async function write(store: EtcdStore): Promise<Revision> {
  const result = await store.create(`/things/${++writes}`, Buffer.from('x'))
  if (!result.done) throw new Error('refused')
  return result.revision
}

async function isCompacted(store: EtcdStore, revision: Revision): Promise<boolean> {
  try {
    await store.get('/things/any', { exactly: revision })
    return false
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'compacted') return true
    throw error
  }
}

/** Advances the clock like another process, without compacting. */
async function tick(client: EtcdClient): Promise<void> {
  const { kvs } = await client.call(RANGE, { key: CLOCK })
  await client.call(TXN, {
    compare: [{ key: CLOCK, target: CompareTarget.version, version: kvs[0]?.version ?? 0 }],
    success: [{ put: { key: CLOCK, value: Buffer.from('0') } }],
  })
}

async function until(ready: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!(await ready())) {
    if (Date.now() > deadline) throw new Error('waited 10 s in vain')
    await delay(10)
  }
}
