// The processor time of ten hot operations, compared with a stored baseline, in half a minute: to be run before and after a
// change on a path that every request takes. Says which operations got worse by more than 10 %.
//
//   npm run bench -- quick            # compares with bench/quick-baseline.json
//   npm run bench -- quick --save     # stores the figures of this build as the baseline
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATIONS, prepare, repeat, watchEvents } from './hot-operations.mjs'
import { cpuSeconds, here, startLoad, startOurs } from './processes.mjs'

const BASELINE = here('./quick-baseline.json')
const OBJECTS = 2000
const ROUNDS = 40
/** V8 optimizes what runs often. */
const WARM_UP = 10
const WORSE = 1.1

export async function run(args) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'))
  const children = []
  try {
    const load = startLoad(children)
    const server = await startOurs(join(folder, 'data'), children)
    await prepare(server, load, OBJECTS)
    const figures = await measure(server, load)
    if (args.includes('--save')) writeFileSync(BASELINE, `${JSON.stringify(figures, null, 2)}\n`)
    else compare(figures, JSON.parse(readFileSync(BASELINE, 'utf8')))
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The least time of some rounds: other work on the machine makes a round slower, never faster. All of it in units of a fixed
 * piece of work, which is measured between the rounds, since one machine is faster than another.
 */
async function measure(server, load) {
  const watching = await watchEvents(server, load)
  const work = OPERATIONS.map(operation => [operation.name, () => repeat(server, load, operation, OBJECTS, 1 / 3)])
  work.push(['watch event', () => watching.round(30)])
  const least = Object.fromEntries(work.map(([name]) => [name, Infinity]))
  let unit = Infinity
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    unit = Math.min(unit, unitOfWork())
    for (const [name, once] of work) {
      const before = cpuSeconds(server.pid)
      const count = await once()
      if (round >= 0) least[name] = Math.min(least[name], (cpuSeconds(server.pid) - before) / count)
    }
  }
  await watching.end()
  return {
    unit: round(unit * 1e6),
    microseconds: Object.fromEntries(Object.entries(least).map(([name, seconds]) => [name, round(seconds * 1e6)])),
  }
}

const round = number => Math.round(number * 10) / 10

/** The processor time of a fixed piece of work of this process, in seconds. */
function unitOfWork() {
  const text = JSON.stringify(
    Array.from({ length: 200 }, (_, i) => ({ name: `object-${i}`, labels: { app: 'bench' } })),
  )
  const begin = process.cpuUsage()
  for (let i = 0; i < 200; i++) JSON.stringify(JSON.parse(text))
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1e6
}

function compare(now, before) {
  const speed = now.unit / before.unit
  console.log(`this machine takes ${speed.toFixed(2)} × as long as that of the baseline\n`)
  console.log('| operation | baseline, µs | now, µs | ratio on equal machines |\n|---|---|---|---|')
  const worse = []
  for (const [name, microseconds] of Object.entries(now.microseconds)) {
    const expected = before.microseconds[name]
    if (expected === undefined) continue
    const ratio = microseconds / expected / speed
    if (ratio > WORSE) worse.push(`${name} (${ratio.toFixed(2)} ×)`)
    console.log(`| ${name} | ${expected} | ${microseconds} | ${ratio.toFixed(2)} |`)
  }
  console.log(
    worse.length > 0 ? `\nworse by more than 10 %: ${worse.join(', ')}` : '\nnothing got worse by more than 10 %',
  )
  process.exitCode = worse.length > 0 ? 1 : 0
}
