// `npm run fuzz -- --shapes` sends every shape of large object to a server, and prints those that held the event loop longest.
import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boundsFor, type HostileServer, startHostileServer } from '../hostile/hostile-server.js'
import { measureShapes, type ShapeCost } from './shapes.js'

const SHAPES = process.env['FUZZ_SHAPES']
/** A file to which each measurement is added, if set. */
const LOG = process.env['FUZZ_SHAPES_LOG']
const SHOWN = 60

let server: HostileServer
beforeAll(async () => {
  if (SHAPES !== undefined) server = await startHostileServer()
})
afterAll(() => server?.stop())

/** How much of its bound a request has used. */
const usedPart = ({ heldMs, bytes }: ShapeCost): number => heldMs / boundsFor(bytes).heldMs

const print = ({ shape, verb, status, bytes, heldMs, cpuMs }: ShapeCost): string =>
  `${heldMs.toFixed(0)} ms held, ${cpuMs.toFixed(0)} ms CPU, ${(bytes / 2 ** 20).toFixed(2)} MiB: ${status} ${verb} ${shape}`

test.skipIf(SHAPES === undefined)('large objects of every shape', { timeout: 3 * 3_600_000 }, async () => {
  const costs: ShapeCost[] = []
  await measureShapes(server, new RegExp(SHAPES ?? ''), cost => {
    costs.push(cost)
    if (LOG !== undefined) appendFileSync(LOG, `${JSON.stringify(cost)}\n`)
  })
  const worst = costs.toSorted((a, b) => usedPart(b) - usedPart(a))
  console.log(`${costs.length} requests\n${worst.slice(0, SHOWN).map(print).join('\n')}`)
  expect(worst.filter(cost => usedPart(cost) > 1).map(print)).toEqual([])
})
