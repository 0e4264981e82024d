// Definitions by the thousand, custom objects beside built-in ones, and the end of a definition with many objects.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { largeDefinition } from './large-definition.mjs'
import { ask, cpuSeconds, ended, memoryGrowth, residentBytes, startLoad, startOurs } from './processes.mjs'
import { concurrently, median, perSecond, printTable, report, sideBySide } from './side-by-side.mjs'
import { validationFigures } from './validation.mjs'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAMESPACE = '/api/v1/namespaces/bench'
const CONFIG_MAPS = `${NAMESPACE}/configmaps`
const BUCKETS = '/apis/service0.example.com/v1beta1/namespaces/bench/bucket0s'
const WARMUPS = 3

/** Both about 1 KiB as they are served. */
const BODIES = {
  [CONFIG_MAPS]: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'object-{}' },
    data: { text: 'v'.repeat(740) },
  },
  [BUCKETS]: {
    apiVersion: 'service0.example.com/v1beta1',
    kind: 'Bucket0',
    metadata: { name: 'object-{}' },
    spec: { forProvider: { setting0x5: { text: 'v'.repeat(560) }, setting0x1: 'name', setting0x4: 80 } },
  },
}

export async function run(args) {
  const options = readOptions(args)
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'))
  const children = []
  try {
    await validationFigures(options)
    const dataDir = join(folder, 'data')
    const first = await startOurs(dataDir, children)
    await ask(first, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } })
    await installFigures(first, options)
    await ended(first.child)
    const server = await startFigures(dataDir, children, options)
    await discoveryFigures(server, options)
    await openApiFigures(server, options)
    const bench = { ...options, server, load: startLoad(children) }
    await objectFigures(bench)
    await staleFigures(bench)
    await endFigures(bench)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  printTable()
}

/** `--quick` stays at 200 definitions and 5,000 objects, `--full` deletes a million objects. */
function readOptions(args) {
  const isQuick = args.includes('--quick')
  return {
    rounds: isQuick ? 3 : 7,
    definitions: isQuick ? 200 : 1000,
    objects: isQuick ? 5000 : args.includes('--full') ? 1_000_000 : 20_000,
  }
}

const keptConnections = sockets => new Agent({ keepAlive: true, maxSockets: sockets })
const ms = time => `${time.toFixed(time < 10 ? 1 : 0)} ms`

async function installFigures(server, { definitions }) {
  const bodies = Array.from({ length: definitions }, (_, i) => largeDefinition(i))
  const agent = keptConnections(8)
  await sleep(1000)
  const memoryBefore = residentBytes(server.pid)
  const cpuBefore = cpuSeconds(server.pid)
  const begin = performance.now()
  await concurrently(8, definitions, i => ask(server, 'POST', DEFINITIONS, bodies[i], { agent }))
  const rate = definitions / ((performance.now() - begin) / 1000)
  const cpu = ((cpuSeconds(server.pid) - cpuBefore) / definitions) * 1000
  agent.destroy()
  const size = `${(JSON.stringify(bodies[0]).length / 1000).toFixed(0)} KB`
  report(
    `definitions of ${size} installed, 8 at once`,
    `${rate.toFixed(0)}/s`,
    '—',
    `${rate.toFixed(0)}/s`,
    '>= 100/s',
    rate >= 100,
  )
  report('processor time of one', ms(cpu), '—', ms(cpu), '<= 10 ms', cpu <= 10)
  // What the work needed is given back within a moment or never.
  await sleep(3000)
  const each = (residentBytes(server.pid) - memoryBefore) / definitions / 1e6
  const mb = `${each.toFixed(2)} MB`
  report('memory of one, after the installation', mb, '—', mb, '< 1 MB', each < 1)
}

/** From the start of the process to the line that says it is ready. */
async function startFigures(dataDir, children, { definitions }) {
  const times = []
  let server
  for (let i = 0; i < 3; i++) {
    if (server) await ended(server.child)
    const begin = performance.now()
    server = await startOurs(dataDir, children)
    times.push(performance.now() - begin)
  }
  const time = median(times)
  report(`ready with ${definitions} such definitions`, ms(time), '—', ms(time), '< 1500 ms', time < 1500)
  const memory = residentBytes(server.pid) / 1e6
  report('memory then', `${memory.toFixed(0)} MB`, '—', `${memory.toFixed(0)} MB`)
  return server
}

/** How long a client waits for the list of everything when one definition has just changed. */
async function discoveryFigures(server, { definitions, rounds }) {
  const agent = keptConnections(1)
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const times = []
  for (let i = 0; i <= rounds; i++) {
    const { metadata, spec } = largeDefinition(i)
    const patch = { spec: { names: { shortNames: [...(spec.names.shortNames ?? []), `changed${i}`] } } }
    const headers = { 'content-type': 'application/merge-patch+json' }
    await ask(server, 'PATCH', `${DEFINITIONS}/${metadata.name}`, patch, { agent, headers })
    const begin = performance.now()
    await ask(server, 'GET', '/apis', undefined, { agent, headers: { accept } })
    times.push(performance.now() - begin)
  }
  agent.destroy()
  // The first one is made from nothing.
  const time = median(times.slice(1))
  const what = `aggregated discovery of ${definitions} definitions after a change`
  report(what, ms(time), `made from nothing ${ms(times[0])}`, ms(time), '< 50 ms', time < 50)
}

/** How long a client waits for the index of OpenAPI, and others meanwhile: kubectl begins with it. */
async function openApiFigures(server, { definitions, rounds }) {
  const agent = keptConnections(1)
  const index = () => ask(server, 'GET', '/openapi/v3', undefined, { agent })
  const begin = performance.now()
  let made = 0
  const making = index().then(() => (made = performance.now() - begin))
  const waits = await latencies(server, async asked => asked > 20 && made > 0, NAMESPACE)
  await making
  const longest = Math.max(...waits)
  const what = `index of OpenAPI of ${definitions} definitions, made from nothing`
  report(what, ms(made), `others wait ${ms(longest)} at most`, ms(longest), '< 100 ms', longest < 100)
  const times = []
  for (let i = 0; i < rounds; i++) {
    const { metadata } = largeDefinition(i)
    const path = `/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/changed${i}`
    const headers = { 'content-type': 'application/json-patch+json' }
    const patch = [{ op: 'add', path, value: { type: 'string' } }]
    await ask(server, 'PATCH', `${DEFINITIONS}/${metadata.name}`, patch, { agent, headers })
    const changed = performance.now()
    await index()
    times.push(performance.now() - changed)
  }
  agent.destroy()
  const time = median(times)
  report('the same after a change', ms(time), '—', ms(time), '< 50 ms', time < 50)
}

async function objectFigures({ server, load, rounds }) {
  const created = new Map()
  const create = path => async () => {
    const first = created.get(path) ?? 0
    const count = 1000
    const body = JSON.stringify(BODIES[path])
    await load('repeat', server, { method: 'POST', path, body, count, first, connections: 8, streams: 8 })
    created.set(path, first + count)
    return count
  }
  const read = path => async () => {
    await load('repeat', server, { path: `${path}/object-{}`, count: 5000, below: 1000, connections: 4, streams: 25 })
    return 5000
  }
  const list = path => async () => {
    const { bytes } = await load('repeat', server, {
      path: `${path}?limit=1000`,
      count: 10,
      connections: 1,
      streams: 2,
    })
    return bytes
  }
  const bothWays = (make, warmups = WARMUPS) =>
    sideBySide({ builtin: make(CONFIG_MAPS), custom: make(BUCKETS) }, { rounds, warmups })
  compare('durable creates of a custom object of 1 KiB, 64 writers', await bothWays(create), perSecond, 0.7)
  compare('GET of a custom object of 1 KiB, 100 at once', await bothWays(read), perSecond, 0.9)
  const megabytes = rate => `${(rate / 1e6).toFixed(0)} MB/s`
  compare('LIST of custom objects, 1,000 a page', await bothWays(list), megabytes, 0.9)
}

function compare(what, { custom, builtin }, unit, goal) {
  const ratio = custom / builtin
  report(what, unit(custom), `ConfigMaps ${unit(builtin)}`, ratio.toFixed(2), `>= ${goal}`, ratio >= goal)
}

/** Objects that were stored before the schema had another default have to be looked into. */
async function staleFigures({ server, load, rounds }) {
  const read = async () => {
    await load('repeat', server, {
      path: `${BUCKETS}/object-{}`,
      count: 3000,
      below: 1000,
      connections: 4,
      streams: 25,
    })
    return 3000
  }
  const list = async () => {
    await load('repeat', server, { path: `${BUCKETS}?limit=1000`, count: 3, connections: 1, streams: 1 })
    return 3000
  }
  const before = await sideBySide({ read, list }, { rounds, warmups: WARMUPS })
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/added'
  const patch = [{ op: 'add', path, value: { type: 'string', default: 'x' } }]
  const headers = { 'content-type': 'application/json-patch+json' }
  await ask(server, 'PATCH', `${DEFINITIONS}/bucket0s.service0.example.com`, patch, { headers })
  const after = await sideBySide({ read, list }, { rounds, warmups: WARMUPS })
  const tell = (what, name) =>
    report(
      what,
      perSecond(after[name]),
      `as stored ${perSecond(before[name])}`,
      (after[name] / before[name]).toFixed(2),
    )
  tell('GET of objects of an earlier schema', 'read')
  tell('LIST of objects of an earlier schema', 'list')
}

/** How long others wait while a definition goes with all its objects. */
async function endFigures({ server, load, objects }) {
  const { metadata } = JSON.parse(await ask(server, 'GET', `${BUCKETS}?limit=1`))
  const there = 1 + (metadata.remainingItemCount ?? 0)
  const body = JSON.stringify(BODIES[BUCKETS])
  const count = objects - there
  if (count > 0) {
    await load('repeat', server, {
      method: 'POST',
      path: BUCKETS,
      body,
      count,
      first: there,
      connections: 8,
      streams: 32,
    })
  }
  const quiet = await latencies(server, async asked => asked === 300)
  const definition = `${DEFINITIONS}/bucket0s.service0.example.com`
  let seconds = 0
  let busy
  const growth = await memoryGrowth(server.pid, async () => {
    const begin = performance.now()
    await ask(server, 'DELETE', definition)
    busy = await latencies(server, async asked => asked % 20 === 0 && !(await isThere(server, definition)))
    seconds = (performance.now() - begin) / 1000
  })
  const deleted = Math.max(objects, there)
  const many = deleted.toLocaleString('en')
  const rate = perSecond(deleted / seconds)
  report(`a definition with ${many} objects goes`, `${seconds.toFixed(1)} s`, '—', rate)
  const [worst, usual] = [atPercent(busy, 99), atPercent(quiet, 99)]
  report(
    '99 of 100 other requests meanwhile',
    `< ${ms(worst)}`,
    `before < ${ms(usual)}`,
    ms(worst),
    '< 100 ms',
    worst < 100,
  )
  const mb = `${(growth / 1e6).toFixed(0)} MB`
  report('memory that it takes meanwhile', mb, '—', mb, '< 200 MB', growth < 200e6)
}

/** GETs of a small object one after the other, until stopped: the duration of each. */
async function latencies(server, isOver, path = `${CONFIG_MAPS}/object-0000000`) {
  const agent = keptConnections(1)
  const times = []
  do {
    const begin = performance.now()
    await ask(server, 'GET', path, undefined, { agent })
    times.push(performance.now() - begin)
  } while (!(await isOver(times.length)))
  agent.destroy()
  return times
}

const isThere = (server, path) =>
  ask(server, 'GET', path).then(
    () => true,
    () => false,
  )

const atPercent = (times, percent) => times.toSorted((a, b) => a - b)[Math.floor(((times.length - 1) * percent) / 100)]
