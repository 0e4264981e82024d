// The API against a bare server that answers the same bytes, against the store alone, and, where one is named by
// --against, against another server of the same API. The servers and the load each have a process of their own.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLmdbStore } from '../dist/storage/lmdb/lmdb-store.js'
import { ask, cpuSeconds, ended, here, memoryGrowth, residentBytes, startLoad, startOurs, TOKEN } from './processes.mjs'
import { concurrently, median, perSecond, printTable, report, sideBySide } from './side-by-side.mjs'

/** On another's server everything happens in these, which are deleted in the end. */
const NAMESPACES = ['bench', 'bench-watch']
const COLLECTION = '/api/v1/namespaces/bench/configmaps'
const WATCHED = '/api/v1/namespaces/bench-watch/configmaps'
const WRITERS = 64
const WATCHERS = 1000
/** A server that has served for a second is compiled; what it is before that does not last. */
const WARMUPS = 4

/** About 1 KiB as it is served. */
const objectOf = name => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench' } },
  data: { text: 'v'.repeat(740) },
})
const CREATE = { method: 'POST', path: COLLECTION, body: JSON.stringify(objectOf('object-{}')) }

export async function run(args) {
  const options = readOptions(args)
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'))
  const children = []
  try {
    const ours = await startOurs(join(folder, 'data'), children)
    const servers = options.other ? [ours, options.other] : [ours]
    const load = startLoad(children)
    await idleFigures(ours)
    await readyFigures(folder, children)
    for (const server of servers) await prepare(server)
    const bench = { ...options, ours, servers, load, folder, bare: await startBare(ours, children) }
    await fillTo(bench, 1000)
    const small = await getFigures(bench, 1000)
    await fillTo(bench, 10_000)
    await listFigures(bench)
    await watchFigures(bench)
    await createFigures(bench)
    await fillTo(bench, options.objects)
    const large = await getFigures(bench, options.objects)
    growthFigures(bench, small, large)
    await pageFigures(bench)
    if (options.other)
      await Promise.all(NAMESPACES.map(name => ask(options.other, 'DELETE', `/api/v1/namespaces/${name}`)))
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  printTable()
}

/** `--quick` stays at 10,000 objects and a few rounds, `--full` goes to a million; `--against URL --token T`. */
function readOptions(args) {
  const valueOf = name => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  const against = valueOf('--against')
  // Only a server on this machine may be loaded, so that a mistyped address harms no other server.
  if (against && !['127.0.0.1', '[::1]', 'localhost'].includes(new URL(against).hostname)) {
    throw new Error(`--against ${against}: only servers on this machine are loaded`)
  }
  const isQuick = args.includes('--quick')
  return {
    other: against && { name: against, url: against, token: valueOf('--token') ?? '', pid: undefined },
    rounds: isQuick ? 3 : 7,
    objects: isQuick ? 10_000 : args.includes('--full') ? 1_000_000 : 100_000,
  }
}

// — the processes

async function startBare({ ca, cert, key }, children) {
  const child = fork(here('./api-bare-server.mjs'))
  children.push(child)
  child.send({ listen: { cert, key } })
  const [{ port }] = await once(child, 'message')
  return {
    url: `https://127.0.0.1:${port}`,
    token: TOKEN,
    ca,
    pid: child.pid,
    async answers(path, body) {
      child.send({ answer: { path, body } })
      await once(child, 'message')
    },
    async keepIn(folder) {
      child.send({ store: { folder } })
      await once(child, 'message')
    },
    emit: (event, times) => child.send({ emit: { event, times } }),
  }
}

async function prepare(server) {
  for (const name of NAMESPACES) await ask(server, 'POST', '/api/v1/namespaces', { metadata: { name } })
  await ask(server, 'POST', WATCHED, objectOf('watched'))
}

const filled = new Map()

/** Creates objects until there are so many. */
async function fillTo({ servers, load }, count) {
  for (const server of servers) {
    const first = filled.get(server.url) ?? 0
    if (first >= count) continue
    await load('repeat', server, { ...CREATE, count: count - first, first, connections: 8, streams: 32 })
    filled.set(server.url, count)
  }
}

// — the figures

/** Reports a rate against the limit, and beside that of another server where there is one. */
function reportRates(what, { bare, ...rates }, { limit, goal, unit = perSecond }) {
  const { ours, other } = rates
  const ratio = ours / bare
  report(what, unit(ours), `${limit} ${unit(bare)}`, ratio.toFixed(2), `>= ${goal}`, ratio >= goal)
  if (other) report(what, unit(ours), `other server ${unit(other)}`, (ours / other).toFixed(2))
}

/** The contenders by name, without another server where there is none. */
const contenders = ({ ours, bare, other }, each) => ({
  ...(bare && { bare: round => each(bare, round) }),
  ours: round => each(ours, round),
  ...(other && { other: round => each(other, round) }),
})

async function getFigures(bench, objects) {
  const { ours, bare, load, rounds } = bench
  await bare.answers(`${COLLECTION}/`, await ask(ours, 'GET', `${COLLECTION}/object-0000000`))
  const count = 10_000
  const cpu = new Map([bare, ours].map(server => [server, { seconds: 0, requests: 0 }]))
  const rates = await sideBySide(
    contenders(bench, async (server, round) => {
      const before = cpuSeconds(server.pid)
      const asked = { path: `${COLLECTION}/object-{}`, count, below: objects, connections: 4, streams: 25 }
      await load('repeat', server, asked)
      const used = cpu.get(server)
      if (used && round > 0) used.seconds += cpuSeconds(server.pid) - before
      if (used && round > 0) used.requests += count
      return count
    }),
    { rounds, warmups: WARMUPS },
  )
  const cost = server => cpu.get(server).seconds / cpu.get(server).requests
  if (objects === 1000) {
    reportRates('GET of 1 KiB, 100 at once', rates, { limit: 'bare http2', goal: 0.6 })
    const micros = server => `${(cost(server) * 1e6).toFixed(0)} µs`
    report(
      'processor time of such a GET',
      micros(ours),
      `bare http2 ${micros(bare)}`,
      (cost(bare) / cost(ours)).toFixed(2),
    )
  }
  return { rates, cost: cost(ours) / cost(bare) }
}

/** Measured against the bare server each time, so that it does not matter what else the machine was doing. */
function growthFigures({ objects }, small, large) {
  if (small === large || objects === 1000) return
  const growth = large.cost / small.cost
  const relative = figures => `${figures.cost.toFixed(2)} × bare`
  report(
    `GET among ${objects.toLocaleString('en')} objects`,
    relative(large),
    `among 1,000 ${relative(small)}`,
    growth.toFixed(2),
    '<= 1.3',
    growth <= 1.3,
  )
  if (large.rates.other) {
    const theirs = small.rates.other / large.rates.other
    report(
      'the same on the other server',
      growth.toFixed(2),
      `other server ${theirs.toFixed(2)}`,
      (growth / theirs).toFixed(2),
    )
  }
}

async function listFigures(bench) {
  const { ours, bare, other, load, rounds } = bench
  const body = await ask(ours, 'GET', COLLECTION)
  await bare.answers(COLLECTION, body)
  const firstBytes = new Map()
  const lists = 4
  const bytesPerSecond = await sideBySide(
    contenders(bench, async (server, round) => {
      const asked = { path: COLLECTION, count: lists, connections: 1, streams: 1 }
      const { bytes, firstByteMs } = await load('repeat', server, asked)
      if (round > 0) firstBytes.set(server, [...(firstBytes.get(server) ?? []), firstByteMs])
      return bytes
    }),
    { rounds, warmups: WARMUPS },
  )
  const unit = rate => `${(rate / 1e6).toFixed(0)} MB/s`
  reportRates(`LIST of 10,000 objects, ${(body.length / 1e6).toFixed(1)} MB`, bytesPerSecond, {
    limit: 'bare http2',
    goal: 0.5,
    unit,
  })
  const first = server => median(firstBytes.get(server))
  const ms = server => `${first(server).toFixed(1)} ms`
  report('its first byte', ms(ours), `bare http2 ${ms(bare)}`, ms(ours), '< 20 ms', first(ours) < 20)
  if (other) report('its first byte', ms(ours), `other server ${ms(other)}`, (first(ours) / first(other)).toFixed(2))
  const growth = await median(
    await inTurn(rounds, () =>
      memoryGrowth(ours.pid, () => load('repeat', ours, { path: COLLECTION, count: 1, connections: 1, streams: 1 })),
    ),
  )
  const largest = 3 * 1024 * 1024
  const mb = bytes => `${(bytes / 1e6).toFixed(1)} MB`
  report(
    'memory that it takes meanwhile',
    mb(growth),
    `the largest object ${mb(largest)}`,
    (growth / largest).toFixed(2),
    '< 2',
    growth < 2 * largest,
  )
}

async function watchFigures(bench) {
  const { ours, bare, other, load, rounds } = bench
  const servers = [bare, ours, ...(other ? [other] : [])]
  for (const server of servers) {
    const { metadata } = server === bare ? { metadata: {} } : JSON.parse(await ask(server, 'GET', `${WATCHED}?limit=1`))
    const path = `${WATCHED}?watch=true&resourceVersion=${metadata.resourceVersion}`
    await load('watch', server, { path, count: WATCHERS, connections: 10 })
  }
  const event = `${JSON.stringify({ type: 'ADDED', object: JSON.parse(await ask(ours, 'GET', `${WATCHED}/watched`)) })}\n`
  const writes = 50
  const created = new Map()
  const rates = await sideBySide(
    contenders(bench, async server => {
      const received = load('waitForEvents', server, { count: writes * WATCHERS })
      if (server === bare) bare.emit(event, writes)
      else {
        const body = JSON.stringify(objectOf('watched-{}'))
        const first = created.get(server) ?? 0
        await load('repeat', server, {
          method: 'POST',
          path: WATCHED,
          body,
          count: writes,
          first,
          connections: 4,
          streams: 2,
        })
        created.set(server, first + writes)
      }
      await received
      return writes * WATCHERS
    }),
    { rounds, warmups: WARMUPS },
  )
  for (const server of servers) await load('endWatches', server)
  reportRates(`events to ${WATCHERS} watchers of one kind, 1 KiB each`, rates, { limit: 'bare http2', goal: 0.5 })
}

async function createFigures(bench) {
  const { ours, bare, other, load, rounds, folder } = bench
  const store = await openLmdbStore(join(folder, 'alone'))
  await bare.keepIn(join(folder, 'bare'))
  const value = Buffer.from(await ask(ours, 'GET', `${COLLECTION}/object-0000000`))
  const count = 3000
  let written = 0
  const { alone, ...rates } = await sideBySide(
    {
      alone: () => concurrently(WRITERS, count, () => store.create(`/bench/object-${written++}`, value)),
      ...contenders({ ours, bare, other }, async server => {
        const first = filled.get(server.url) ?? 0
        await load('repeat', server, { ...CREATE, count, first, connections: 8, streams: WRITERS / 8 })
        filled.set(server.url, first + count)
        return count
      }),
    },
    { rounds, warmups: WARMUPS },
  )
  await store.close()
  const what = `durable creates of 1 KiB, ${WRITERS} writers`
  reportRates(what, { ...rates, bare: alone }, { limit: 'the store alone', goal: 0.5 })
  const ofBare = (rates.ours / rates.bare).toFixed(2)
  report(what, perSecond(rates.ours), `bare http2 on such a store ${perSecond(rates.bare)}`, ofBare)
  report(
    `${what}, bare http2`,
    perSecond(rates.bare),
    `the store alone ${perSecond(alone)}`,
    (rates.bare / alone).toFixed(2),
  )
}

async function pageFigures(bench) {
  const { servers, ours, load, rounds, objects } = bench
  const limit = 500
  for (const server of servers) {
    let last = `${COLLECTION}?limit=${limit}`
    for (;;) {
      const { metadata } = JSON.parse(await ask(server, 'GET', last))
      if (!metadata.continue) break
      last = `${COLLECTION}?limit=${limit}&continue=${metadata.continue}`
    }
    const page = path => async () => {
      await load('repeat', server, { path, count: 50, connections: 1, streams: 2 })
      return 50
    }
    const { start, end } = await sideBySide(
      { start: page(`${COLLECTION}?limit=${limit}`), end: page(last) },
      { rounds, warmups: WARMUPS },
    )
    const what = `a page of ${limit} at the end of ${objects.toLocaleString('en')} objects${server === ours ? '' : ', other server'}`
    const per = rate => `${Math.round(rate)} pages/s`
    const ratio = start / end
    report(
      what,
      per(end),
      `at the start ${per(start)}`,
      ratio.toFixed(2),
      'cost <= 1.3',
      server === ours ? ratio <= 1.3 : undefined,
    )
  }
}

/** From the start of the process to the line that says it is ready, on a data folder that exists. */
async function readyFigures(folder, children) {
  const dataDir = join(folder, 'ready')
  const ready = async () => {
    const begin = performance.now()
    const { child } = await startOurs(dataDir, children)
    const ms = performance.now() - begin
    await ended(child)
    return ms
  }
  const nothing = async () => {
    const begin = performance.now()
    await ended(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'leave')
    return performance.now() - begin
  }
  await ready()
  const times = { ours: [], node: [] }
  for (let i = 0; i < 7; i++) {
    times.node.push(await nothing())
    times.ours.push(await ready())
  }
  const [ours, node] = [median(times.ours), median(times.node)]
  const ms = time => `${time.toFixed(0)} ms`
  report(
    'ready on an existing data folder',
    ms(ours),
    `node -e 0 ${ms(node)}`,
    `${(ours / node).toFixed(1)} ×`,
    '< 400 ms',
    ours < 400,
  )
}

async function idleFigures({ pid }) {
  // What the start needed is given back within a moment or never.
  await sleep(2000)
  const mb = residentBytes(pid) / 1e6
  report('memory of an idle server', `${mb.toFixed(0)} MB`, '—', `${mb.toFixed(0)} MB`, '< 100 MB', mb < 100)
}

async function inTurn(times, action) {
  const results = []
  for (let i = 0; i < times; i++) results.push(await action())
  return results
}
