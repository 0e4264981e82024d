// The stores against what they stand on: bare lmdb, a bare etcd client, and a watch cache with one watcher.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { createWatchCache } from '../dist/storage/cache/watch-cache.js'
import { openEtcdStore } from '../dist/storage/etcd/etcd-store.js'
import { openLmdbStore } from '../dist/storage/lmdb/lmdb-store.js'
import { createMemoryStore } from '../dist/storage/memory/memory-store.js'
import { startBareEtcdClient } from './bare-etcd-client.mjs'
import { concurrently, perSecond, printTable, report, sideBySide } from './side-by-side.mjs'

const WRITERS = 64
const KEYS = 100_000
const value = Buffer.alloc(1024, 'v')
const key = i => `/benchmarks/default/object-${String(i).padStart(7, '0')}`

export async function run(args) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'))
  try {
    await lmdbFigures(folder)
    await etcdFigures(folder)
    await watchFigures()
    if (!args.includes('--quick')) await openingFigures(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  printTable()
}

async function lmdbFigures(folder) {
  const bare = open({ path: join(folder, 'bare'), encoding: 'binary', overlappingSync: false })
  const store = await openLmdbStore(join(folder, 'ours'))
  const ratio = (what, { ours, bare: limit }, goal) =>
    report(
      what,
      perSecond(ours),
      `bare lmdb ${perSecond(limit)}`,
      (ours / limit).toFixed(2),
      `>= ${goal}`,
      ours / limit >= goal,
    )

  const perRound = 6000
  const revisions = new Map()
  const creates = await sideBySide({
    bare: round => concurrently(WRITERS, perRound, i => bare.put(key(round * perRound + i), value)),
    ours: round =>
      concurrently(WRITERS, perRound, async i => {
        const { revision } = await store.create(key(round * perRound + i), value)
        revisions.set(round * perRound + i, revision)
      }),
  })
  ratio(`lmdb: durable creates of 1 KiB, ${WRITERS} writers`, creates, 0.6)

  // Updates go to keys all over the store; each key has one writer at a time.
  const written = revisions.size
  const spread = i => (i * 7919) % written
  const updates = await sideBySide({
    bare: () => concurrently(WRITERS, perRound, i => bare.put(key(spread(i)), value)),
    ours: () =>
      concurrently(WRITERS, perRound, async i => {
        const { revision } = await store.update(key(spread(i)), value, revisions.get(spread(i)))
        revisions.set(spread(i), revision)
      }),
  })
  ratio(`lmdb: durable updates of 1 KiB, ${WRITERS} writers`, updates, 0.6)

  await concurrently(2000, KEYS, i => bare.put(key(i), value))
  await concurrently(2000, KEYS, async i => {
    if (!revisions.has(i)) await store.create(key(i), value)
  })
  const reads = 20_000
  const random = i => key((i * 48_271) % KEYS)
  const gets = await sideBySide({
    bare: () => {
      for (let i = 0; i < reads; i++) bare.get(random(i))
      return reads
    },
    ours: async () => {
      for (let i = 0; i < reads; i++) await store.get(random(i))
      return reads
    },
  })
  ratio('lmdb: gets of 1 KiB', gets, 0.7)

  const scans = await sideBySide({
    bare: () => {
      const values = []
      for (const entry of bare.getRange({ start: key(0), limit: 10_000 })) values.push(entry)
      return values.length
    },
    ours: async () => (await store.range('/benchmarks/default/', { limit: 10_000 })).entries.length,
  })
  ratio('lmdb: range of 10,000 values', scans, 0.7)
  await store.close()
  await bare.close()
}

async function etcdFigures(folder) {
  if (spawnSync('etcd', ['--version']).error) {
    console.error('etcd is not installed: its figures are left out')
    return
  }
  const client = 23790 + (process.pid % 1000)
  const url = `http://127.0.0.1:${client}`
  const peer = `http://127.0.0.1:${client + 1000}`
  const etcd = spawn(
    'etcd',
    [
      '--data-dir',
      join(folder, 'etcd'),
      '--listen-client-urls',
      url,
      '--advertise-client-urls',
      url,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `default=${peer}`,
      '--log-level',
      'error',
    ],
    { stdio: 'ignore' },
  )
  try {
    const store = await openEtcdStore({ endpoints: [url], prefix: '/ours' })
    await store.revision()
    const bare = startBareEtcdClient(url)
    const perRound = 4000
    const writes = await sideBySide({
      puts: round => concurrently(WRITERS, perRound, i => bare.put(`/puts${key(round * perRound + i)}`, value)),
      bare: round => concurrently(WRITERS, perRound, i => bare.create(`/bare${key(round * perRound + i)}`, value)),
      ours: round => concurrently(WRITERS, perRound, i => store.create(key(round * perRound + i), value)),
    })
    const compare = (what, other, limit) =>
      report(
        `etcd: writes of 1 KiB, ${WRITERS} writers`,
        perSecond(writes.ours),
        `${what} ${perSecond(other)}`,
        (writes.ours / other).toFixed(2),
        `>= ${limit}`,
        writes.ours / other >= limit,
      )
    compare('bare client, compare-and-set', writes.bare, 0.8)
    compare('bare client, plain puts', writes.puts, 0.8)
    bare.close()
    await store.close()
  } finally {
    etcd.kill()
    await new Promise(resolve => etcd.once('close', resolve))
  }
}

async function watchFigures() {
  /** Writes that one watcher wants, with so many others elsewhere. */
  async function cacheWith(others) {
    const store = createMemoryStore()
    const cache = createWatchCache(store, '/benchmarks/')
    const start = await store.revision()
    let seen = 0
    cache.watch('/benchmarks/wanted/', start, { event: () => void seen++, end() {} })
    for (let i = 0; i < others; i++) cache.watch(`/benchmarks/other-${i}/`, start, { event() {}, end() {} })
    let n = 0
    await pause()
    return async () => {
      const before = seen
      for (let i = 0; i < 5000; i++) await cache.create(`/benchmarks/wanted/${n++}`, value)
      await pause()
      if (seen - before !== 5000) throw new Error(`only ${seen - before} of 5000 events were delivered`)
      return 5000
    }
  }
  const { one, many } = await sideBySide({ one: await cacheWith(0), many: await cacheWith(10_000) })
  report(
    'watch cache: an event for 1 watcher, 10,000 elsewhere',
    perSecond(many),
    `1 watcher in all ${perSecond(one)}`,
    (one / many).toFixed(2),
    'cost <= 2',
    one / many <= 2,
  )

  const store = createMemoryStore()
  const cache = createWatchCache(store, '/benchmarks/')
  let delivered = 0
  const start = await store.revision()
  for (let i = 0; i < 10_000; i++) cache.watch('/benchmarks/', start, { event: () => void delivered++, end() {} })
  let n = 0
  await pause()
  const { deliveries } = await sideBySide({
    async deliveries() {
      const before = delivered
      for (let i = 0; i < 50; i++) await cache.create(`/benchmarks/${n++}`, value)
      await pause()
      return delivered - before
    },
  })
  report(
    'watch cache: an event for 10,000 watchers',
    `${perSecond(deliveries)} deliveries`,
    '—',
    perSecond(deliveries),
    '>= 0.5 M/s',
    deliveries >= 500_000,
  )
}

/** Lets what was begun by timers and callbacks come to its end. */
const pause = () => new Promise(resolve => setTimeout(resolve, 5))

async function openingFigures(folder) {
  const path = join(folder, 'million')
  const store = await openLmdbStore(path)
  await concurrently(5000, 1_000_000, i => store.create(key(i), value))
  await store.close()
  // A process of its own, so that nothing but the opening and a few reads is in its memory.
  const probe = fileURLToPath(new URL('./open-store-probe.mjs', import.meta.url))
  const { stdout, stderr } = spawnSync(process.execPath, [probe, path], { encoding: 'utf8' })
  if (!stdout) throw new Error(stderr)
  const { seconds, anonymousMb } = JSON.parse(stdout)
  report(
    'lmdb: opening 1,000,000 objects of 1 KiB',
    `${(seconds * 1000).toFixed(0)} ms`,
    '—',
    `${seconds.toFixed(3)} s`,
    '< 1 s',
    seconds < 1,
  )
  report(
    'lmdb: memory then, the mapped file aside',
    `${anonymousMb.toFixed(0)} MB`,
    '—',
    `${anonymousMb.toFixed(0)} MB`,
    '< 150 MB',
    anonymousMb < 150,
  )
}
