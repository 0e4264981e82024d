// The behavioural suite on a real etcd. Each test has its own prefix on one process.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import { describeStore } from '../../src/storage/store.suite.js'
import { brief, recordWatch } from '../../src/storage/watch-recorder.suite.js'
import { type Etcd, etcdMissing, startEtcd } from '../components/etcd.js'

/** etcd accepts requests of 1.5 MiB by default. */
const MAX_VALUE_BYTES = 1024 * 1024

describe.skipIf(etcdMissing())('etcd', () => {
  let etcd: Etcd

  beforeAll(async () => {
    etcd = await startEtcd({ args: ['--experimental-watch-progress-notify-interval=200ms'] })
  })
  afterAll(() => etcd?.stop())

  const open = async (trustRequestedProgress?: boolean) => ({
    store: await openEtcdStore({ endpoints: etcd.endpoints, prefix: `/test/${randomUUID()}`, trustRequestedProgress }),
    maxValueBytes: MAX_VALUE_BYTES,
  })

  describeStore('etcd store', () => open())

  test('deletes a key that was not written again in time', async () => {
    const { store } = await open()
    const recorded = recordWatch(store, '/leases/', await store.revision())
    await store.putWithTtl!('/leases/a', Buffer.from('one'), 1000)
    await store.putWithTtl!('/leases/a', Buffer.from('two'), 1)
    expect((await store.get('/leases/a'))!.value.toString()).toBe('two')
    const events = brief(await recorded.count(3))
    expect(events.map(event => event.replace(/ @.*/, ''))).toEqual([
      'create /leases/a=one',
      expect.stringContaining('update /leases/a=two'),
      expect.stringContaining('delete /leases/a'),
    ])
    expect(await store.get('/leases/a')).toBeUndefined()
    await store.close()
  })

  // Older versions may answer before events that are in transit, so only a prefix without writes gives a certain result.
  test('with reliable progress, a watch without events gets it at once', async () => {
    const { store } = await open(true)
    const quiet = recordWatch(store, '/quiet/', await store.revision())
    await store.create('/others/a', Buffer.from('x'))
    quiet.watch.requestProgress()
    await quiet.progressTo(await store.revision())
    expect(quiet.events).toEqual([])
    await store.close()
  })
})
