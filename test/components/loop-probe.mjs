// Loaded into the process of a server (`--import`): measures how long its event loop was held, its CPU time and its memory,
// and reports them to the test that started it.
//
// A timer fires in every turn of the event loop. The time between two turns is the time for which nothing else was served.
// On a busy machine the process also waits for a processor, so that of the elapsed time and the CPU time of the thread the
// shorter counts. CPU time, too, is longer on a slow or busy machine: `slowness` says how much, by work that is always the same.
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

const TICK_MS = 4

/** CPU time of the thread that runs the event loop; of the whole process where the system does not say. */
const threadFile = `/proc/self/task/${process.pid}/schedstat`
function cpuMs() {
  try {
    return Number(readFileSync(threadFile, 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

let heldMs = 0
let elapsed = performance.now()
let cpu = cpuMs()
let since = process.cpuUsage()
let peakRss = 0

function tick() {
  const now = performance.now()
  heldMs = Math.max(heldMs, Math.min(now - elapsed - TICK_MS, cpuMs() - cpu))
  elapsed = now
  cpu = cpuMs()
  peakRss = Math.max(peakRss, process.memoryUsage.rss())
}
setInterval(tick, TICK_MS).unref()

/** Objects, maps and sorting, as in the work of a request. It takes about so long on an idle machine. */
const EXPECTED_MS = 45
function fixedWork() {
  const list = Array.from({ length: 50_000 }, (_, i) => ({ name: `a${(i * 7919) % 50_000}`, below: { value: i } }))
  const byName = new Map()
  for (const item of JSON.parse(JSON.stringify(list))) byName.set(item.name, { ...item, list: [item.below] })
  return [...byName.keys()].toSorted((a, b) => (a < b ? -1 : 1)).length
}

function slowness() {
  fixedWork()
  const began = cpuMs()
  fixedWork()
  return Math.max(1, (cpuMs() - began) / EXPECTED_MS)
}

process.on('message', question => {
  let slow
  if (question === 'slowness') slow = slowness()
  if (question === 'reset' || question === 'slowness') {
    heldMs = 0
    peakRss = 0
    since = process.cpuUsage()
    elapsed = performance.now()
    cpu = cpuMs()
  } else {
    tick()
    if (question === 'collect') globalThis.gc?.()
  }
  const used = process.cpuUsage(since)
  const { used_heap_size, external_memory } = getHeapStatistics()
  process.send({
    heldMs,
    cpuMs: (used.user + used.system) / 1000,
    rss: process.memoryUsage.rss(),
    peakRss,
    heap: used_heap_size + external_memory,
    slowness: slow,
  })
})
// The channel alone does not keep the process running.
process.channel?.unref()
