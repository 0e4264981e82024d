// The connections of the etcd store: TLS, several endpoints, members that are down, and cleanup.
import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEtcdClient } from '../../src/storage/etcd/client/etcd-client.js'
import { RANGE } from '../../src/storage/etcd/client/messages.js'
import { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from '../../src/storage/etcd/etcd-store.js'
import { recordWatch } from '../../src/storage/watch-recorder.suite.js'
import {
  type Etcd,
  etcdMissing,
  freePorts,
  makeCertificates,
  startEtcd,
  startEtcdCluster,
  type TestCertificates,
} from '../components/etcd.js'

describe.skipIf(etcdMissing())('a connection to etcd', () => {
  let etcd: Etcd

  beforeAll(async () => {
    etcd = await startEtcd()
  })
  afterAll(() => etcd?.stop())

  test('fails to open with a clear error if no server listens', async () => {
    const [port] = await freePorts(1)
    const opening = openEtcdStore({ endpoints: [`http://127.0.0.1:${port}`], timeoutMs: 300 })
    await expect(opening).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('fails to open if the server never answers', async () => {
    const silent = createServer()
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const opening = openEtcdStore({ endpoints: [`http://127.0.0.1:${port}`], timeoutMs: 300 })
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' })
  })

  test.each(['127.0.0.1:2379', 'ftp://127.0.0.1:2379', ''])('is not made to %j', async endpoint => {
    await expect(openEtcdStore({ endpoints: [endpoint] })).rejects.toThrow(/is not an endpoint/)
  })

  test('goes to another endpoint when the first is down', async () => {
    const [port] = await freePorts(1)
    const store = await open({ endpoints: [`http://127.0.0.1:${port}`, ...etcd.endpoints] })
    expect(await store.create('/things/a', Buffer.from('x'))).toMatchObject({ done: true })
  })

  test('has the keys of Kubernetes, and unchanged values', async () => {
    const store = await open({ endpoints: etcd.endpoints })
    const value = Buffer.from('{"kind":"ConfigMap"}')
    await store.create('/configmaps/default/settings', value)
    const raw = createEtcdClient({ endpoints: etcd.endpoints })
    const { kvs } = await raw.call(RANGE, { key: Buffer.from('/registry/configmaps/default/settings') })
    expect(kvs.map(kv => kv.value.toString())).toEqual([value.toString()])
    await raw.close()
  })

  test('shares its data with other processes', async () => {
    const [one, other] = await Promise.all([
      open({ endpoints: etcd.endpoints, prefix: '/shared' }),
      open({ endpoints: etcd.endpoints, prefix: '/shared' }),
    ])
    const seen = recordWatch(other, '/things/', await other.revision())
    const created = await one.create('/things/a', Buffer.from('1'))
    if (!created.done) throw new Error('refused')
    expect((await other.get('/things/a'))?.revision).toBe(created.revision)
    expect(await other.update('/things/a', Buffer.from('2'), created.revision)).toMatchObject({ done: true })
    expect(await one.update('/things/a', Buffer.from('3'), created.revision)).toMatchObject({
      done: false,
      current: { value: Buffer.from('2') },
    })
    expect((await seen.count(2)).map(event => event.value?.toString())).toEqual(['1', '2'])
  })

  test('reads a long range in pages as of one revision, during further writes', async () => {
    const store = await open({ endpoints: etcd.endpoints, prefix: '/long' })
    // More than the first page has; some are large, so that later pages have another length.
    const names = Array.from({ length: 1_300 }, (_, i) => `/things/${String(i).padStart(5, '0')}`)
    for (let i = 0; i < names.length; i += 100) {
      await Promise.all(
        names.slice(i, i + 100).map(name => store.create(name, Buffer.alloc(name.endsWith('7') ? 20_000 : 10))),
      )
    }
    const before = await store.revision()
    const [page] = await Promise.all([store.range('/things/'), store.create('/things/zzz', Buffer.from('late'))])
    const expected = page.revision === before ? names : [...names, '/things/zzz']
    expect(page.entries.map(entry => entry.key)).toEqual(expected)
    expect(page.remaining).toBe(0)
    expect(await store.range('/things/', { limit: 1_200, at: { exactly: before } })).toMatchObject({
      revision: before,
      remaining: 100,
    })
  })

  test('refuses a value over the limits of etcd with a clear error', async () => {
    const store = await open({ endpoints: etcd.endpoints, prefix: '/large' })
    for (const size of [1.6 * 1024 * 1024, 4 * 1024 * 1024]) {
      await expect(store.create('/things/a', Buffer.alloc(size))).rejects.toMatchObject({ code: 'value-too-large' })
    }
  })

  test('lets the process end once its store is closed', async () => {
    // In a separate process, which must end by itself.
    const script = `
      import { createServer } from 'vite'
      const vite = await createServer({ server: { middlewareMode: true }, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } })
      const { openEtcdStore } = await vite.ssrLoadModule('/src/storage/etcd/etcd-store.ts')
      const store = await openEtcdStore({ endpoints: ${JSON.stringify(etcd.endpoints)} })
      store.watch('/', await store.revision(), { event() {}, end() {} })
      await store.get('/things/a')
      await store.close()
      await vite.close()
      console.log('closed')`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 15_000,
    })
    expect(stdout).toContain('closed')
  })

  describe('with TLS', () => {
    let certificates: TestCertificates
    let secure: Etcd

    beforeAll(async () => {
      certificates = makeCertificates()
      secure = await startEtcd({ tls: certificates })
    })
    afterAll(async () => {
      await secure?.stop()
      certificates?.remove()
    })

    test('works with a client certificate', async () => {
      const { ca, clientCert: cert, clientKey: key } = certificates
      const store = await open({ endpoints: secure.endpoints, tls: { ca, cert, key } })
      const seen = recordWatch(store, '/things/', await store.revision())
      await store.create('/things/a', Buffer.from('x'))
      expect(await seen.count(1)).toHaveLength(1)
    })

    test('is refused without a client certificate', async () => {
      const opening = openEtcdStore({ endpoints: secure.endpoints, tls: { ca: certificates.ca }, timeoutMs: 500 })
      await expect(opening).rejects.toMatchObject({ code: 'unavailable' })
    })

    test('is refused if the certificate of the server is not trusted', async () => {
      const opening = openEtcdStore({ endpoints: secure.endpoints, timeoutMs: 500 })
      await expect(opening).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/certificate/),
      })
    })
  })

  test('to a cluster survives the loss of any member, without a gap in its watches', async () => {
    const members = await startEtcdCluster(3)
    onTestFinished(async () => void (await Promise.all(members.map(member => member.stop()))))
    const store = await open({ endpoints: members.flatMap(member => member.endpoints), timeoutMs: 10_000 })
    const seen = recordWatch(store, '/things/', await store.revision())
    for (const [i, member] of members.entries()) {
      await create(store, `/things/${i}-before`)
      await member.kill()
      await create(store, `/things/${i}-without`)
      await member.restart()
    }
    const { entries } = await store.range('/things/')
    const written = entries.map(entry => entry.revision).toSorted((a, b) => a - b)
    expect(written).toHaveLength(6)
    expect((await seen.count(6)).map(event => event.revision)).toEqual(written)
  })
})

/** Creates a key; if the outcome is unknown, retries until it exists. */
async function create(store: EtcdStore, key: string): Promise<void> {
  for (;;) {
    try {
      await store.create(key, Buffer.from('x'))
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'outcome-unknown')) throw error
    }
  }
}

async function open(options: EtcdStoreOptions): Promise<EtcdStore> {
  const store = await openEtcdStore(options)
  onTestFinished(() => store.close())
  return store
}
