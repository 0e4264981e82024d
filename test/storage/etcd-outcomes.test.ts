// The outcomes of operations when etcd is killed, paused, restarted or disconnected: not done, done, or unknown.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import type { Revision, WriteResult } from '../../src/storage/store.js'
import { recordWatch } from '../../src/storage/watch-recorder.suite.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'
import { type Proxy, startProxy } from '../components/proxy.js'

describe.skipIf(etcdMissing())('when etcd', () => {
  let etcd: Etcd
  let prefixes = 0

  beforeAll(async () => {
    etcd = await startEtcd()
  })
  afterAll(() => etcd?.stop())
  beforeEach(() => {
    prefixes++
  })

  async function open(options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> {
    const store = await openEtcdStore({
      endpoints: etcd.endpoints,
      prefix: `/outcomes-${prefixes}`,
      historyMs: 0,
      timeoutMs: 500,
      ...options,
    })
    onTestFinished(() => store.close())
    return store
  }

  async function openThroughProxy(
    options: Partial<EtcdStoreOptions> = {},
  ): Promise<{ store: EtcdStore; proxy: Proxy }> {
    const proxy = await startProxy({ port: Number(new URL(etcd.endpoints[0]!).port) })
    const store = await open({ ...options, endpoints: [`http://127.0.0.1:${proxy.port}`] })
    onTestFinished(() => proxy.close())
    return { store, proxy }
  }

  test('is down, writes are certainly not done and reads fail; afterwards all works again', async () => {
    const store = await open()
    const created = revisionOf(await store.create('/things/a', Buffer.from('1')))
    await etcd.kill()
    // The first may be sent on a connection whose end is not detected yet.
    await errorOf(store.create('/things/first', Buffer.from('x')))
    for (const attempt of [
      store.create('/things/b', Buffer.from('x')),
      store.update('/things/a', Buffer.from('x'), created),
      store.delete('/things/a', created),
      store.get('/things/a'),
      store.range('/things/'),
      store.revision(),
    ]) {
      await expect(attempt).rejects.toMatchObject({ name: 'StorageError', code: 'unavailable' })
    }
    await etcd.restart()
    // The pause before the next attempt to connect may be longer than the timeout of a read.
    expect((await eventually(() => store.get('/things/a')))?.value.toString()).toBe('1')
    expect(await store.get('/things/b')).toBeUndefined()
  })

  test('comes back in time, waiting operations are done', async () => {
    const store = await open({ timeoutMs: 10_000 })
    await etcd.kill()
    const reading = store.get('/things/none')
    await errorOf(open({ timeoutMs: 100 })) // by then the end of the old connection is detected
    const writing = store.create('/things/a', Buffer.from('1'))
    await etcd.restart()
    expect(await reading).toBeUndefined()
    expect(await writing).toMatchObject({ done: true })
  })

  test('is stopped, a write that was sent has an unknown outcome, and is done or not afterwards', async () => {
    const store = await open()
    etcd.pause()
    onTestFinished(() => etcd.resume())
    await expect(store.create('/things/a', Buffer.from('1'))).rejects.toMatchObject({ code: 'outcome-unknown' })
    await expect(store.get('/things/a')).rejects.toMatchObject({ code: 'unavailable' })
    etcd.resume()
    const entry = await eventually(() => store.get('/things/a'))
    expect([undefined, '1']).toContain(entry?.value.toString())
  })

  test('is stopped, the connection is closed and no write is sent on a new one', async () => {
    const store = await open({ timeoutMs: 10_000 })
    etcd.pause()
    onTestFinished(() => etcd.resume())
    const began = Date.now()
    await expect(store.create('/things/a', Buffer.from('1'))).rejects.toMatchObject({ code: 'outcome-unknown' })
    // Long before the timeout of the operation.
    expect(Date.now() - began).toBeLessThan(6_000)
    const quick = await open({ timeoutMs: 300 }).catch((error: unknown) => error)
    expect(quick).toMatchObject({ code: 'unavailable' })
  })

  test('answers but the answer is lost, the outcome is unknown and the write done', async () => {
    const { store, proxy } = await openThroughProxy()
    const direct = await open()
    const seen = recordWatch(direct, '/things/', await direct.revision())
    proxy.stall('to-client')
    const writing = errorOf(store.create('/things/a', Buffer.from('1')))
    await seen.count(1)
    proxy.cut()
    expect(await writing).toMatchObject({ code: 'outcome-unknown' })
    await proxy.heal()
    expect((await eventually(() => store.get('/things/a')))?.value.toString()).toBe('1')
  })

  test('refuses connections, a write is certainly not done', async () => {
    const { store, proxy } = await openThroughProxy()
    await proxy.refuse()
    await errorOf(store.get('/things/a'))
    await expect(store.create('/things/a', Buffer.from('1'))).rejects.toMatchObject({ code: 'unavailable' })
    await proxy.heal()
    expect(await eventually(() => store.get('/things/a'))).toBeUndefined()
  })

  test('loses connections during reads, they are retried', async () => {
    const { store, proxy } = await openThroughProxy({ timeoutMs: 5_000 })
    const revision = revisionOf(await store.create('/things/a', Buffer.from('1')))
    for (let i = 0; i < 20; i++) {
      const reading = [store.get('/things/a'), store.range('/things/')] as const
      proxy.cut()
      expect((await reading[0])?.revision).toBe(revision)
      expect((await reading[1]).entries).toHaveLength(1)
    }
  })

  test.each(['restarted', 'killed', 'cut off', 'stopped'] as const)(
    'is %s, watches go on without gap or repetition',
    async error => {
      const { store, proxy } = await openThroughProxy({ timeoutMs: 2_000 })
      const direct = await open({ timeoutMs: 5_000 })
      const start = await direct.revision()
      const [live, slow] = [recordWatch(store, '/things/', start), recordWatch(store, '/', start)]
      slow.pausing = true
      const written: Revision[] = []
      const write = async (count: number) => {
        for (let i = 0; i < count; i++) {
          const key = `/things/${written.length}`
          written.push(
            revisionOf(
              await retried(
                () => direct.create(key, Buffer.from('x')),
                () => direct.get(key),
              ),
            ),
          )
        }
      }
      await write(5)
      await live.count(5)
      if (error === 'restarted') await etcd.restart()
      if (error === 'killed') {
        await etcd.kill()
        await etcd.restart()
      }
      if (error === 'cut off') {
        await proxy.refuse()
        await write(5)
        await proxy.heal()
      }
      if (error === 'stopped') {
        etcd.pause()
        await expect(store.create('/lost', Buffer.from('x'))).rejects.toMatchObject({ code: 'outcome-unknown' })
        etcd.resume()
      }
      await write(5)
      proxy.cut()
      await write(5)
      slow.pausing = false
      slow.watch.resume()
      expect((await live.count(written.length)).map(event => event.revision)).toEqual(written)
      await slow.count(written.length)
      expect(slow.events.filter(event => event.key !== '/lost').map(event => event.revision)).toEqual(written)
    },
  )

  test('is in use while the store is closed, running operations get an answer', async () => {
    const store = await open({ timeoutMs: 20_000 })
    const seen = recordWatch(store, '/things/', await store.revision())
    etcd.pause()
    onTestFinished(() => etcd.resume())
    const write = store.create('/things/a', Buffer.from('1'))
    const read = store.get('/things/a')
    const [wrote, gotten] = [errorOf(write), errorOf(read)]
    await store.close()
    expect(await wrote).toMatchObject({ code: 'outcome-unknown' })
    expect(await gotten).toMatchObject({ code: 'closed' })
    expect(await seen.end()).toMatchObject({ code: 'closed' })
  })

  test('is down while the store is closed, waiting operations fail', async () => {
    const store = await open({ timeoutMs: 20_000 })
    const seen = recordWatch(store, '/things/', await store.revision())
    await etcd.kill()
    const waiting = [errorOf(store.get('/things/a')), errorOf(store.revision())]
    const began = Date.now()
    await store.close()
    expect(await Promise.all(waiting)).toMatchObject([{ code: 'closed' }, { code: 'closed' }])
    expect(Date.now() - began).toBeLessThan(2_000)
    expect((await seen.end()).code).toBe('closed')
    await etcd.restart()
  })

  test('has no space left, writes fail with that error and reads work', async () => {
    const small = await startEtcd({ args: [`--quota-backend-bytes=${2 * 1024 * 1024}`] })
    onTestFinished(() => small.stop())
    const store = await open({ endpoints: small.endpoints })
    const value = Buffer.alloc(512 * 1024, 'v')
    let failure: unknown
    for (let i = 0; !failure && i < 20; i++) failure = await errorOf(store.create(`/things/${i}`, value))
    expect(failure).toMatchObject({ code: 'no-space' })
    expect((await store.get('/things/0'))?.value.length).toBe(value.length)
  })
})

/** The error of a promise; undefined if it resolves. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

function revisionOf(result: WriteResult): Revision {
  if (!result.done) throw new Error(`refused: ${JSON.stringify(result.current)}`)
  return result.revision
}

/** Retries a write until it is done, also after an unknown outcome. */
async function retried(
  write: () => Promise<WriteResult>,
  read: () => Promise<{ revision: Revision } | undefined>,
): Promise<WriteResult> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      const there = await eventually(read)
      if (there) return { done: true, revision: there.revision }
    }
  }
}

async function eventually<T>(read: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 10_000
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}
