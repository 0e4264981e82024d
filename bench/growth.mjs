// What many of everything costs: objects, definitions, watches, namespaces, and a namespace with many objects that is
// deleted. Each row compares few with many; processor time is that of the server for one operation.
//
//   npm run bench -- growth [--full] [--only objects,watches,namespaces,deletion,definitions]
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbStore } from '../dist/storage/lmdb/lmdb-store.js'
import { collectionOf, GROUP, OPERATIONS, prepare, repeat } from './hot-operations.mjs'
import { largeDefinition } from './large-definition.mjs'
import { ask, cpuSeconds, ended, ownBytes, residentBytes, startLoad, startOurs, whenIdle } from './processes.mjs'
import { concurrently, printTable, report } from './side-by-side.mjs'

const SMALL = 1000
const SIZES = {
  usual: { objects: 100_000, watches: 1000, connections: 100, namespaces: 10_000, deleted: 20_000, definitions: 1000 },
  full: {
    objects: 1_000_000,
    watches: 10_000,
    connections: 1000,
    namespaces: 100_000,
    deleted: 100_000,
    definitions: 10_000,
  },
}
const FIGURES = { objects, watches, namespaces, deletion, definitions }

export async function run(args) {
  const sizes = args.includes('--full') ? SIZES.full : SIZES.usual
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1].split(',') : Object.keys(FIGURES)
  for (const name of only) {
    const begin = performance.now()
    const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'))
    const children = []
    try {
      const bench = { folder: join(folder, 'data'), children, load: startLoad(children), sizes }
      await FIGURES[name](bench, await startOurs(bench.folder, children))
    } finally {
      for (const child of children) child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
    console.error(`(${name}: ${((performance.now() - begin) / 60_000).toFixed(1)} min)`)
  }
  printTable()
}

// — objects

const READS = ['get', 'list, limit=500', 'list by label, one matches']

async function objects({ folder, children, load, sizes }, first) {
  await prepare(first, load, SMALL)
  await ended(first.child)
  // Both are measured in a new process, whose code V8 compiles meanwhile.
  const few = await startOurs(folder, children)
  await whenIdle(few.pid)
  const before = await readCosts(few, load, SMALL)
  await ended(few.child)
  await fill(folder, sizes.objects)
  const many = await startOurs(folder, children)
  // After a start, the garbage collector reads all objects once.
  await whenIdle(many.pid)
  const started = cpuSeconds(many.pid)
  const after = await readCosts(many, load, sizes.objects)
  const count = sizes.objects.toLocaleString('en')
  for (const name of READS) {
    const ratio = after[name] / before[name]
    const goal = '<= 1.3 ×'
    report(`${name}, of ${count}`, us(after[name]), `of 1,000 ${us(before[name])}`, times(ratio), goal, ratio <= 1.3)
  }
  report(`start with ${count} objects, until all are read`, `${started.toFixed(1)} s of the processor`, '—', '—')
  reportMemory(`memory with ${count} objects`, many.pid)
}

/** A mapped file is in the system's cache, which it empties when memory is short: both figures are given. */
function reportMemory(what, pid, limit) {
  const own = ownBytes(pid)
  const whole = residentBytes(pid)
  const goal = limit === undefined ? [] : [`< ${mb(limit)}`, whole < limit]
  report(what, mb(own), `with the files that it maps ${mb(whole)}`, mb(whole), ...goal)
}

/** The least of several rounds, in microseconds. The first rounds build the index of labels, and warm up the compiler. */
async function readCosts(server, load, count) {
  const costs = {}
  for (const operation of OPERATIONS.filter(({ name }) => READS.includes(name))) {
    const samples = []
    for (let i = 0; i < 16; i++) {
      const before = cpuSeconds(server.pid)
      const done = await repeat(server, load, operation, count)
      samples.push(((cpuSeconds(server.pid) - before) / done) * 1e6)
    }
    costs[operation.name] = Math.min(...samples.slice(6))
  }
  return costs
}

/** Copies the first object into the store, under other names, while no server has it open. */
async function fill(folder, count) {
  const store = await openLmdbStore(join(folder, 'store'))
  const { entries } = await store.range(`/${GROUP}/gadgets/bench/`, { limit: 1 })
  const [{ key, value }] = entries
  const text = value.toString()
  const named = i => String(i).padStart(7, '0')
  await concurrently(2000, count - SMALL, i => {
    const name = named(i + SMALL)
    return store.create(key.replace('0000000', name), Buffer.from(text.replaceAll('0000000', name)))
  })
  await store.close()
}

// — watches

async function watches({ load, sizes }, server) {
  await prepare(server, load, 10)
  const path = `${collectionOf('bench-watch')}?watch=true&resourceVersion=0`
  const idle = residentBytes(server.pid)
  await load('watch', server, { path, count: sizes.watches, connections: sizes.connections })
  await load('waitForEvents', server, { count: sizes.watches })
  const opened = residentBytes(server.pid)
  const before = cpuSeconds(server.pid)
  const events = 20
  for (let i = 0; i < events; i++) {
    await ask(server, 'PATCH', `${collectionOf('bench-watch')}/watched`, { spec: { text: `${i}` } }, MERGE)
  }
  await load('waitForEvents', server, { count: sizes.watches * events })
  const cost = ((cpuSeconds(server.pid) - before) / (sizes.watches * events)) * 1e6
  const what = `${sizes.watches.toLocaleString('en')} watches on ${sizes.connections.toLocaleString('en')} connections`
  report(`${what}: an event to each`, us(cost), '—', us(cost))
  report(`${what}: memory of one`, `${((opened - idle) / sizes.watches / 1000).toFixed(1)} KB`, '—', mb(opened))
}

const MERGE = { headers: { 'content-type': 'application/merge-patch+json' } }

// — namespaces

async function namespaces({ load, sizes }, server) {
  const path = '/api/v1/namespaces'
  const body = JSON.stringify({ metadata: { name: 'many-{}' } })
  const create = (first, count) =>
    load('repeat', server, { method: 'POST', path, body, first, count, connections: 2, streams: 32 })
  const cost = async (first, count) => {
    const before = cpuSeconds(server.pid)
    await create(first, count)
    return ((cpuSeconds(server.pid) - before) / count) * 1e6
  }
  await create(0, 500)
  const few = await cost(500, 500)
  await create(1000, sizes.namespaces - 2000)
  const many = await cost(sizes.namespaces - 1000, 1000)
  const what = `create of a namespace, among ${sizes.namespaces.toLocaleString('en')}`
  report(what, us(many), `among 500 ${us(few)}`, times(many / few), '<= 1.3 ×', many / few <= 1.3)
  await whenIdle(server.pid)
  reportMemory('memory then', server.pid)
}

// — the deletion of a namespace

async function deletion({ folder, children, load, sizes }, first) {
  await prepare(first, load, SMALL)
  await ended(first.child)
  await fill(folder, sizes.deleted)
  const server = await startOurs(folder, children)
  await ask(server, 'POST', '/api/v1/namespaces/bench-watch/configmaps', { metadata: { name: 'other' } })
  await whenIdle(server.pid)
  const idle = cpuSeconds(server.pid)
  const quiet = await latencies(server, async asked => asked === QUIET_GETS)
  const costOfGet = (cpuSeconds(server.pid) - idle) / QUIET_GETS
  const begin = performance.now()
  const cpu = cpuSeconds(server.pid)
  await ask(server, 'DELETE', '/api/v1/namespaces/bench')
  const isGone = agent =>
    ask(server, 'GET', '/api/v1/namespaces/bench', undefined, { agent }).then(
      () => false,
      () => true,
    )
  const busy = await latencies(server, async (asked, agent) => asked % 20 === 0 && (await isGone(agent)))
  const seconds = (performance.now() - begin) / 1000
  const used = cpuSeconds(server.pid) - cpu
  // Those GETs are not a part of the deletion.
  const each = ((used - busy.length * 1.05 * costOfGet) / sizes.deleted) * 1e6
  const what = `a namespace with ${sizes.deleted.toLocaleString('en')} objects goes`
  report(`${what}: the processor for each`, us(each), '10,000 /s take < 100 µs', us(each), '< 100 µs', each < 100)
  const rate = sizes.deleted / seconds
  report(`${what}, with ${busy.length} GETs`, `${seconds.toFixed(1)} s`, '—', `${Math.round(rate)} /s`)
  const [p50, p99] = [50, 99].map(percent => percentile(busy, percent).toFixed(1))
  const [quiet50, quiet99] = [50, 99].map(percent => percentile(quiet, percent).toFixed(1))
  report(
    '99 of 100 GETs of another namespace meanwhile',
    `< ${p99} ms, half of them < ${p50} ms`,
    `before < ${quiet99} ms, half of them < ${quiet50} ms`,
    `${p99} ms`,
  )
}

const QUIET_GETS = 2000

/** GETs one after the other until stopped: how long each took, in milliseconds. */
async function latencies(server, isOver) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const all = []
  do {
    const begin = performance.now()
    await ask(server, 'GET', '/api/v1/namespaces/bench-watch/configmaps/other', undefined, { agent })
    all.push(performance.now() - begin)
  } while (!(await isOver(all.length, agent)))
  agent.destroy()
  return all
}

const percentile = (all, percent) => all.toSorted((a, b) => a - b)[Math.floor(((all.length - 1) * percent) / 100)]

// — definitions

async function definitions({ folder, children, sizes }, server) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const cpu = cpuSeconds(server.pid)
  await concurrently(8, sizes.definitions, i => ask(server, 'POST', path, largeDefinition(i), { agent }))
  agent.destroy()
  const each = ((cpuSeconds(server.pid) - cpu) / sizes.definitions) * 1e6
  const count = sizes.definitions.toLocaleString('en')
  report(`${count} definitions of 70 KB, to install one`, us(each), '—', us(each))
  await whenIdle(server.pid)
  reportMemory('memory then', server.pid, 2e9)
  await ended(server.child)
  const begin = performance.now()
  const again = await startOurs(folder, children)
  const seconds = (performance.now() - begin) / 1000
  const used = cpuSeconds(again.pid)
  report(
    'ready with them',
    `${seconds.toFixed(1)} s`,
    `${used.toFixed(1)} s of the processor`,
    `${seconds.toFixed(1)} s`,
    '< 5 s',
    seconds < 5,
  )
  await whenIdle(again.pid)
  reportMemory('memory after this start', again.pid, 2e9)
}

const us = microseconds => `${microseconds.toFixed(microseconds < 100 ? 1 : 0)} µs`
const mb = bytes => `${Math.round(bytes / 1e6)} MB`
const times = ratio => `${ratio.toFixed(2)} ×`
