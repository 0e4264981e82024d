// Watches on etcd: transactions of other writers, compacted history, progress, back-pressure.
import { createConnection, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEtcdClient, type EtcdClient } from '../../src/storage/etcd/client/etcd-client.js'
import { RANGE, TXN } from '../../src/storage/etcd/client/messages.js'
import { type EtcdStore, openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import type { Revision } from '../../src/storage/store.js'
import { brief, recordWatch } from '../../src/storage/watch-recorder.suite.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'

describe.skipIf(etcdMissing())('a watch on etcd', () => {
  let etcd: Etcd
  let raw: EtcdClient
  let prefixes = 0

  beforeAll(async () => {
    etcd = await startEtcd()
    raw = createEtcdClient({ endpoints: etcd.endpoints })
  })
  afterAll(async () => {
    await raw?.close()
    await etcd?.stop()
  })

  async function open(options: { endpoints?: string[]; prefix?: string; trustRequestedProgress?: boolean } = {}) {
    const prefix = options.prefix ?? `/watch-${++prefixes}`
    const store = await openEtcdStore({ endpoints: etcd.endpoints, historyMs: 0, ...options, prefix })
    onTestFinished(() => store.close())
    return { store, prefix }
  }

  test('gets all events of a transaction of another writer, in one revision', async () => {
    const { store, prefix } = await open()
    const start = await put(store, '/things/gone', 'x')
    const seen = recordWatch(store, '/things/', start)
    seen.pausing = true
    const at = (path: string) => Buffer.from(prefix + path)
    const { header } = await raw.call(TXN, {
      compare: [],
      success: [
        { put: { key: at('/things/a'), value: Buffer.from('1') } },
        { put: { key: at('/things/b'), value: Buffer.from('2') } },
        { deleteRange: { key: at('/things/gone') } },
        { put: { key: at('/elsewhere'), value: Buffer.from('3') } },
      ],
    })
    const { revision } = header!
    for (let i = 1; i <= 3; i++) {
      await seen.count(i)
      seen.watch.resume()
    }
    expect(brief(seen.events)).toEqual([
      `create /things/a=1 @${revision}`,
      `create /things/b=2 @${revision}`,
      `delete /things/gone (was x @${start}) @${revision}`,
    ])
  })

  test('gets a transaction that is too long for one response', async () => {
    const { store, prefix } = await open()
    const seen = recordWatch(store, '/things/', await store.revision())
    const write = (fill: string) =>
      raw.call(TXN, {
        compare: [],
        success: Array.from({ length: 10 }, (_, i) => ({
          put: { key: Buffer.from(`${prefix}/things/${i}`), value: Buffer.alloc(140 * 1024, fill) },
        })),
      })
    // With previous values, the second is twice the size of one etcd response.
    const revisions = [await write('a'), await write('b')].map(({ header }) => header!.revision)
    const events = await seen.count(20)
    expect(events.map(event => event.revision)).toEqual(revisions.flatMap(revision => Array(10).fill(revision)))
    expect(events.map(event => event.key.at(-1))).toEqual('01234567890123456789'.split(''))
  })

  test('ends with `compacted` at the compaction revision itself, since that event may be lost', async () => {
    const { store } = await open()
    const created = await put(store, '/things/a', '1')
    const deleted = await store.delete('/things/a', created)
    await put(store, '/things/b', '2')
    if (!deleted.done) throw new Error('refused')
    await store.compact(deleted.revision)
    expect(await recordWatch(store, '/things/', created).end()).toMatchObject({ code: 'compacted' })
    expect(await recordWatch(store, '/things/', deleted.revision).count(1)).toHaveLength(1)
  })

  test('reports the oldest available revision when it ends with `compacted`', async () => {
    const { store } = await open()
    for (let i = 0; i < 3; i++) await put(store, `/things/${i}`, 'x')
    const now = await store.revision()
    await store.compact(now)
    const error = await recordWatch(store, '/things/', 1).end()
    expect(error.code).toBe('compacted')
    expect([now, undefined]).toContain(error.revision)
  })

  test('on one key gets no events of other keys', async () => {
    const { store } = await open()
    const seen = recordWatch(store, '/things/a', await store.revision())
    await put(store, '/things/a/below', '1')
    await put(store, '/things/ab', '1')
    await put(store, '/things/a', '2')
    expect(brief(await seen.count(1))).toEqual([`create /things/a=2 @${await store.revision()}`])
  })

  test('works among hundreds on the same connection, beside calls', async () => {
    const { store } = await open()
    const start = await store.revision()
    const watches = Array.from({ length: 300 }, (_, i) => recordWatch(store, `/things-${i}/`, start))
    await Promise.all(watches.map((_, i) => put(store, `/things-${i}/a`, '1')))
    const seen = await Promise.all(watches.map(watch => watch.count(1)))
    expect(seen.flat()).toHaveLength(300)
  })

  test('reads only a little from the network while its sink is paused', async () => {
    const counter = await startCounter(Number(new URL(etcd.endpoints[0]!).port))
    onTestFinished(counter.stop)
    const { store: writer, prefix } = await open()
    const { store } = await open({ endpoints: [`http://127.0.0.1:${counter.port}`], prefix })
    const seen = recordWatch(store, '/things/', await store.revision())
    seen.pausing = true
    const value = Buffer.alloc(256 * 1024, 'v')
    const revisions: Revision[] = []
    const write = async (count: number) => {
      for (let i = 0; i < count; i++) revisions.push(await put(writer, `/things/${revisions.length}`, value))
    }
    await write(60)
    await seen.count(1)
    // etcd has sent all it could once it has answered a later read on the same connection.
    await store.revision()
    expect(counter.bytesToClient).toBeLessThan(4 * 1024 * 1024)
    expect(seen.events).toHaveLength(1)
    seen.pausing = false
    seen.watch.resume()
    await write(5)
    expect((await seen.count(65)).map(event => event.revision)).toEqual(revisions)
  })

  describe('requested progress', () => {
    test('is reported at once if it is reliable', async () => {
      const { store } = await open({ trustRequestedProgress: true })
      expect(store.promptProgress).toBe(true)
      const seen = recordWatch(store, '/things/', await store.revision())
      await put(store, '/things/a', '1')
      await seen.count(1)
      const last = await put(store, '/elsewhere/b', '2')
      seen.watch.requestProgress()
      await seen.progressTo(last)
      expect(seen.events).toHaveLength(1)
    })

    test('is not requested from etcd 3.4.23, but reported with the next event', async () => {
      const { store } = await open()
      expect(store.promptProgress).toBe(false)
      const seen = recordWatch(store, '/things/', await store.revision())
      await put(store, '/things/a', '1')
      await seen.count(1)
      const elsewhere = await put(store, '/elsewhere/b', '2')
      seen.watch.requestProgress()
      await store.revision()
      expect(seen.progress.filter(revision => revision >= elsewhere)).toEqual([])
      const last = await put(store, '/things/c', '3')
      await seen.progressTo(last)
      expect(seen.events).toHaveLength(2)
    })

    test('is reported at once if the latest event is the latest write', async () => {
      const { store } = await open()
      const seen = recordWatch(store, '/things/', await store.revision())
      const last = await put(store, '/things/a', '1')
      await seen.count(1)
      seen.watch.requestProgress()
      await seen.progressTo(last)
      expect(seen.events).toHaveLength(1)
    })

    test.each([true, false])('of a paused watch is reported after the events (reliable: %s)', async trust => {
      const { store } = await open({ trustRequestedProgress: trust })
      const seen = recordWatch(store, '/things/', await store.revision())
      seen.pausing = true
      const revisions = [await put(store, '/things/a', '1'), await put(store, '/things/b', '2')]
      await seen.count(1)
      seen.watch.requestProgress()
      await store.revision()
      expect(seen.progress.filter(revision => revision >= revisions[1]!)).toEqual([])
      seen.pausing = false
      seen.watch.resume()
      await seen.progressTo(revisions[1]!)
      expect(seen.events).toHaveLength(2)
    })
  })

  test('gets progress without a request if etcd sends it often', async () => {
    const often = await startEtcd({ args: ['--experimental-watch-progress-notify-interval=100ms'] })
    onTestFinished(() => often.stop())
    const { store } = await open({ endpoints: often.endpoints })
    const seen = recordWatch(store, '/things/', await store.revision())
    const last = await put(store, '/elsewhere/a', '1')
    await seen.progressTo(last)
    expect(seen.events).toEqual([])
  })

  test('leaves no keys of its own in etcd', async () => {
    const { store, prefix } = await open({ trustRequestedProgress: true })
    const seen = recordWatch(store, '/things/', await store.revision())
    const last = await put(store, '/things/a', '1')
    seen.watch.requestProgress()
    await seen.progressTo(last)
    const { kvs } = await raw.call(RANGE, { key: Buffer.from(prefix), rangeEnd: Buffer.from(`${prefix}0`) })
    expect(kvs.map(kv => kv.key.toString())).toEqual([`${prefix}/things/a`])
    expect(await store.revision()).toBe(last)
  })
})

async function put(store: EtcdStore, key: string, value: string | Buffer): Promise<Revision> {
  const result = await store.create(key, Buffer.from(value))
  if (!result.done) throw new Error(`${key} is there already`)
  return result.revision
}

/** A proxy that counts bytes. */
async function startCounter(target: number) {
  let bytesToClient = 0
  const server = createServer(client => {
    const upstream = createConnection(target, '127.0.0.1')
    upstream.on('data', chunk => {
      bytesToClient += chunk.length
    })
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    get bytesToClient() {
      return bytesToClient
    },
    stop: () => void server.close(),
  }
}
