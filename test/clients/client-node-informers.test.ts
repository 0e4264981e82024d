// Informers miss no event and see none twice when connections break and the server stops, is killed and restarts.
// Runs for BINNACLE_INFORMER_SECONDS, ten by default.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ApiException,
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
} from '@kubernetes/client-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { type Proxy, startProxy } from '../components/proxy.js'

const SECONDS = Number(process.env.BINNACLE_INFORMER_SECONDS ?? 10)

/** A server that can be restarted on the same data directory, behind a proxy with a fixed address. */
let directory: string
let server: BinnacleProcess
let proxy: Proxy
const target = { port: 0 }
let informers: Informer<V1ConfigMap>[]

async function start(): Promise<void> {
  server = await startBinnacleProcess(`--data-dir=${directory}`)
  target.port = Number(new URL(server.url).port)
}
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-informers-'))
  informers = []
  await start()
  proxy = await startProxy(target)
})
afterEach(async () => {
  await Promise.all(informers.map(informer => informer.stop()))
  await proxy.close()
  await server.kill()
  rmSync(directory, { recursive: true })
})

/** The administrator's kubeconfig: through the proxy, or at the server's current address. */
function connect(port: number): { config: KubeConfig; core: CoreV1Api } {
  const config = new KubeConfig()
  config.loadFromFile(server.kubeconfig)
  config.clusters = config.clusters.map(cluster => ({ ...cluster, server: `https://127.0.0.1:${port}` }))
  return { config, core: config.makeApiClient(CoreV1Api) }
}

interface Seen {
  readonly verb: 'add' | 'update' | 'delete'
  readonly name: string
  readonly version: string
}
interface Observer {
  readonly seen: readonly Seen[]
  readonly errors: number
  /** The number of list requests. */
  readonly lists: number
  readonly cache: ObjectCache<V1ConfigMap>
}

/** An informer that restarts after each error, as is usual. */
async function observe(labelSelector?: string): Promise<Observer> {
  const { config, core } = connect(proxy.port)
  const seen: Seen[] = []
  let [errors, lists] = [0, 0]
  const list = () => {
    lists++
    return core.listNamespacedConfigMap({ namespace: 'default', ...(labelSelector && { labelSelector }) })
  }
  const informer = makeInformer(config, '/api/v1/namespaces/default/configmaps', list, labelSelector)
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, ({ metadata }) => {
      seen.push({ verb, name: metadata!.name!, version: metadata!.resourceVersion! })
    })
  }
  informer.on('error', () => {
    errors++
    setTimeout(() => void informer.start(), 50)
  })
  informers.push(informer)
  await informer.start()
  return {
    seen,
    cache: informer,
    get errors() {
      return errors
    },
    get lists() {
      return lists
    },
  }
}

const stateOf = (items: readonly V1ConfigMap[]): string[] =>
  items.map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`).toSorted()

/** Writes continuously, also while the server fails, until stopped. */
function startWriting(): { stop(): Promise<{ acknowledged: string[]; unknown: number }> } {
  const acknowledged: string[] = []
  let unknown = 0
  const stopped = new AbortController()
  let connection = connect(target.port)
  let port = target.port

  /** Returns the written object, or undefined if the outcome is unknown. */
  async function attempt<T>(write: (core: CoreV1Api) => Promise<T>): Promise<T | undefined> {
    if (port !== target.port) {
      port = target.port
      connection = connect(port)
    }
    try {
      return await write(connection.core)
    } catch (error) {
      // Refused because an earlier write of unknown outcome has taken effect.
      if (error instanceof ApiException && (error.code === 404 || error.code === 409)) return undefined
      unknown++
      await sleep(20)
      return undefined
    }
  }

  async function writeOn(): Promise<void> {
    for (let i = 0; !stopped.signal.aborted; i++) {
      const name = `c-${i}`
      const at = { name, namespace: 'default' }
      const body = (round: string, mood: string): V1ConfigMap => ({
        metadata: { name, labels: { mood } },
        data: { round },
      })
      const note = (written: V1ConfigMap | undefined) => {
        if (written) acknowledged.push(written.metadata!.resourceVersion!)
      }
      note(await attempt(core => core.createNamespacedConfigMap({ namespace: 'default', body: body('1', 'happy') })))
      note(await attempt(core => core.replaceNamespacedConfigMap({ ...at, body: body('2', i % 2 ? 'sad' : 'happy') })))
      if (i % 3 === 0) await attempt(core => core.deleteNamespacedConfigMap(at))
    }
  }
  const writing = writeOn()
  return {
    async stop() {
      stopped.abort()
      await writing
      return { acknowledged, unknown }
    },
  }
}

const disruptions: (() => Promise<void>)[] = [
  async () => proxy.cut(),
  async () => {
    await server.stop()
    await start()
  },
  async () => {
    await proxy.refuse()
    await sleep(150)
    await proxy.heal()
  },
  async () => {
    await server.kill()
    await start()
  },
]

test('informers see all writes once, across interruptions', {
  timeout: (SECONDS + 40) * 1000,
}, async () => {
  const everything = await observe()
  const happy = await observe('mood=happy')
  const writer = startWriting()
  const until = Date.now() + SECONDS * 1000
  let disrupted = 0
  while (Date.now() < until) {
    await sleep(300)
    await disruptions[disrupted++ % disruptions.length]!()
  }
  const { acknowledged, unknown } = await writer.stop()

  const { core } = connect(target.port)
  const last = await core.createNamespacedConfigMap({
    namespace: 'default',
    body: { metadata: { name: 'last', labels: { mood: 'happy' } } },
  })
  for (const { seen } of [everything, happy]) {
    await expect.poll(() => seen.at(-1)?.version, { timeout: 30_000 }).toBe(last.metadata!.resourceVersion)
  }

  const now = async (labelSelector?: string) =>
    stateOf(
      (await core.listNamespacedConfigMap({ namespace: 'default', ...(labelSelector && { labelSelector }) })).items,
    )
  expect(stateOf([...everything.cache.list()])).toEqual(await now())
  expect(stateOf([...happy.cache.list()])).toEqual(await now('mood=happy'))

  // History is kept across restarts, so no informer had to list again.
  expect([everything.lists, happy.lists]).toEqual([1, 1])
  const versions = everything.seen.map(event => event.version)
  expect(versions).toEqual(
    versions
      .map(Number)
      .toSorted((a, b) => a - b)
      .map(String),
  )
  expect(new Set(versions).size).toBe(versions.length)
  const shown = new Set(versions)
  expect(acknowledged.filter(each => !shown.has(each))).toEqual([])
  // Writes with a lost response may have been made: informers may see only those in addition.
  const writes = everything.seen.filter(({ verb }) => verb !== 'delete').length
  expect(writes - acknowledged.length - 1).toBeLessThanOrEqual(unknown)
  expect(everything.errors).toBeGreaterThan(0)
  expect(acknowledged.length).toBeGreaterThan(20)
})

test('an informer that was away longer than history is kept gets an error, and lists again', async () => {
  const { core } = connect(target.port)
  const create = (name: string, api = core) =>
    api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name } } })
  await create('stays')
  await create('goes')
  const { seen, cache } = await observe()
  await expect.poll(() => seen.length).toBe(2)

  await proxy.refuse()
  await core.deleteNamespacedConfigMap({ name: 'goes', namespace: 'default' })
  await create('comes')
  await server.stop()
  const store = await openLmdbStore(join(directory, 'store'))
  await store.compact(await store.revision())
  await store.close()
  await start()
  await proxy.heal()

  await expect
    .poll(() => seen.map(({ verb, name }) => `${verb} ${name}`), { timeout: 10_000 })
    .toEqual(['add goes', 'add stays', 'delete goes', 'add comes'])
  await create('after', connect(target.port).core)
  await expect
    .poll(() => stateOf([...cache.list()]).map(each => each.split('@')[0]))
    .toEqual(['after', 'comes', 'stays'])
})
