// Binnacle beside another Kubernetes API server, which is named by its URL: the same requests to both in alternating
// rounds. With the ids of its processes, also their processor time for one operation, and their memory.
//
//   npm run bench -- compare --reference https://127.0.0.1:6443 --token T --pids 11,12 [--json figures.json]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUp, firstObject, OPERATIONS, prepare, repeat, WATCHERS, watchEvents } from './hot-operations.mjs'
import { cpuSeconds, residentBytes, startLoad, startOurs } from './processes.mjs'
import { median } from './side-by-side.mjs'

export async function run(args) {
  const options = readOptions(args)
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'))
  const children = []
  try {
    const load = startLoad(children)
    const ours = await startOurs(join(folder, 'data'), children, options.flags)
    ours.pids = [ours.pid, ...options.ourPids]
    const servers = options.reference ? [ours, options.reference] : [ours]
    for (const server of servers) await prepare(server, load, options.objects)
    const rows = []
    for (const operation of OPERATIONS.filter(({ name }) => options.only.test(name))) {
      const round = server => repeated(REPEATS, () => repeat(server, load, operation, options.objects, options.share))
      rows.push(await measured(operation, servers, options.rounds, round))
    }
    if (options.only.test('watch')) rows.push(await measuredWatch(servers, load, options))
    if (options.only.test('definition')) rows.push(await measuredDefinition(servers, options))
    rows.push({ name: 'memory after this work', unit: 'MB', figures: servers.map(memoryOf) })
    if (options.reference) await cleanUp(options.reference)
    print(rows, options)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

function readOptions(args) {
  const valueOf = name => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  const pidsOf = name => (valueOf(name) ?? '').split(',').filter(Boolean).map(Number)
  const url = valueOf('--reference')
  const isQuick = args.includes('--quick')
  return {
    reference: url && { name: 'reference', url, token: valueOf('--token') ?? '', pids: pidsOf('--pids') },
    objects: Number(valueOf('--objects') ?? 4000),
    rounds: Number(valueOf('--rounds') ?? (isQuick ? 3 : 7)),
    share: isQuick ? 0.25 : 1,
    only: new RegExp(valueOf('--only') ?? ''),
    json: valueOf('--json'),
    // Flags for Binnacle, such as --storage=memory, and other processes to count with it, such as an etcd of its own.
    flags: args.filter(each => each.startsWith('--storage') || each.startsWith('--etcd-servers')),
    ourPids: pidsOf('--our-pids'),
  }
}

/**
 * What one server still does after its round, such as collecting garbage, would take the processors from the next one: waits
 * until all of them together have used less than a fifth of a processor for a moment, for some seconds at most.
 */
async function whenIdle(servers) {
  const used = () => servers.reduce((sum, server) => sum + cpuOf(server), 0)
  for (let times = 0; times < 50; times++) {
    const before = used()
    await sleep(IDLE_MS)
    if (used() - before < IDLE_MS / 1000 / 5) return
  }
}
const IDLE_MS = 100

/** The median of processor time and of the rate. */
async function measured({ name, isNew, warmUps }, servers, rounds, round) {
  const samples = servers.map(() => ({ cpu: [], rate: [] }))
  await warmUp(servers, round, isNew, warmUps)
  for (let i = 0; i < rounds; i++) {
    for (const [at, server] of servers.entries()) {
      await whenIdle(servers)
      const before = cpuOf(server)
      const begin = performance.now()
      const count = await round(server)
      const seconds = (performance.now() - begin) / 1000
      samples[at].cpu.push(((cpuOf(server) - before) / count) * 1e6)
      samples[at].rate.push(count / seconds)
    }
  }
  const figures = samples.map(({ cpu, rate }) => ({ cpu: median(cpu), rate: median(rate) }))
  console.error(
    `${name}: ${figures.map(({ cpu, rate }) => `${Math.round(cpu)} µs, ${Math.round(rate)}/s`).join(' | ')}`,
  )
  return { name, unit: 'µs', figures }
}

/**
 * A server that has just begun with an operation is slower than one that serves it all day: some thousand requests pass until V8
 * has compiled what they need. A round of the cheap operations has a few hundred.
 */
const WARM_UP_MS = 2000

/**
 * What leaves new objects or versions is repeated equally often everywhere, so that memory is compared after the same work:
 * `times` times, or as often as the first server can in that time.
 */
async function warmUp(servers, round, isNew, times) {
  let wanted = times
  for (const server of servers) {
    if (wanted !== undefined) for (let i = 0; i < wanted; i++) await round(server)
    else {
      const done = await repeatFor(WARM_UP_MS, () => round(server))
      if (isNew) wanted = done
    }
  }
}

/** So often in one round, which would else be over in some fifty milliseconds on a fast server. */
const REPEATS = 3
async function repeated(times, action) {
  let sum = 0
  for (let i = 0; i < times; i++) sum += await action()
  return sum
}

async function repeatFor(milliseconds, action) {
  const begin = performance.now()
  let times = 0
  for (; times === 0 || performance.now() - begin < milliseconds; times++) await action()
  return times
}

async function measuredWatch(servers, load, { rounds, share }) {
  const watching = new Map()
  for (const server of servers) watching.set(server, await watchEvents(server, load))
  const count = Math.max(10, Math.round(300 * share))
  const operation = { name: `watch event to each of ${WATCHERS} watchers`, isNew: true }
  const row = await measured(operation, servers, rounds, server => watching.get(server).round(count))
  for (const { end } of watching.values()) await end()
  return row
}

async function measuredDefinition(servers, { rounds }) {
  let i = 0
  const operation = { name: 'definition posted → first object stored', warmUps: 20 }
  const row = await measured(operation, servers, Math.min(rounds, 5), async server => {
    await firstObject(server, ++i)
    return 1
  })
  return row
}

const cpuOf = ({ pids }) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
const memoryOf = ({ pids }) => ({ bytes: pids.reduce((sum, pid) => sum + residentBytes(pid), 0) })

function print(rows, { reference, json }) {
  const machine = `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
  console.log(`${machine}\n`)
  console.log('| work | CPU here, µs | reference, µs | CPU ratio | rate here | reference | rate, × theirs |')
  console.log('|---|---|---|---|---|---|---|')
  for (const { name, figures } of rows) console.log(`| ${[name, ...cellsOf(figures)].join(' | ')} |`)
  if (json)
    writeFileSync(
      json,
      JSON.stringify({ machine, date: new Date().toISOString(), reference: reference?.url, rows }, null, 2),
    )
}

function cellsOf([ours, theirs]) {
  if (ours.bytes !== undefined) {
    const [a, b] = [ours, theirs].map(each => each && Math.round(each.bytes / 1e6))
    return [`${a} MB`, b ? `${b} MB` : '—', b ? ratio(a / b) : '—', '', '', '']
  }
  const known = theirs?.cpu > 0
  return [
    Math.round(ours.cpu),
    known ? Math.round(theirs.cpu) : '—',
    known ? ratio(ours.cpu / theirs.cpu) : '—',
    `${Math.round(ours.rate)} /s`,
    theirs ? `${Math.round(theirs.rate)} /s` : '—',
    theirs ? (ours.rate / theirs.rate).toFixed(1) : '—',
  ]
}

const ratio = value => (value < 1 ? `1/${(1 / value).toFixed(1)}` : `${value.toFixed(1)} × worse`)
