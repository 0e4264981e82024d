// Loaded into the process of a server (`--import`): measures how long its event loop was held, its CPU time and its memory,
// and reports them to the test that started it.
//
// A timer fires in every turn of the event loop. The time between two turns is the time for which nothing else was served.
// On a busy machine the process also waits for a processor, so that of the elapsed time and the CPU time the shorter counts.
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

const TICK_MS = 4

let heldMs = 0
let elapsed = performance.now()
let cpu = process.cpuUsage()
let since = process.cpuUsage()
let peakRss = 0

function tick() {
  const now = performance.now()
  const used = process.cpuUsage(cpu)
  heldMs = Math.max(heldMs, Math.min(now - elapsed - TICK_MS, (used.user + used.system) / 1000))
  elapsed = now
  cpu = process.cpuUsage()
  peakRss = Math.max(peakRss, process.memoryUsage.rss())
}
setInterval(tick, TICK_MS).unref()

process.on('message', question => {
  if (question === 'reset') {
    heldMs = 0
    peakRss = 0
    since = process.cpuUsage()
    elapsed = performance.now()
    cpu = process.cpuUsage()
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
  })
})
// The channel alone does not keep the process running.
process.channel?.unref()
