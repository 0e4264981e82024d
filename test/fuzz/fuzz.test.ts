// Requests from generators against a server: none is answered by a bug, none stops the others, and the memory comes back.
// `npm run fuzz -- --requests N --seed S` runs more of them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MeasuredBinnacle, startMeasuredBinnacle } from '../components/measured-binnacle.js'
import { sendRequest } from '../server/request.js'
import { deleteStored, storedPaths } from './delete-stored.js'
import { describeRequest, fuzz } from './fuzz.js'

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 5_000)
/** Always the same ones in the test, so that it fails for everybody or for none. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
/** What a server keeps when all objects are deleted: compiled code, metrics, and caches and recent events up to their limits. */
const KEPT_BYTES = (REQUESTS > 5_000 ? 150 : 60) * 2 ** 20
/** So long after a deletion the history of an object is gone, too. */
const HISTORY_MS = 6 * 60_000

let server: MeasuredBinnacle
beforeAll(async () => {
  server = await startMeasuredBinnacle('--storage=memory')
}, 600_000)
afterAll(() => server?.stop())

test(`${REQUESTS} generated requests`, { timeout: 60_000 + HISTORY_MS + REQUESTS * 100 }, async () => {
  const atStart = await storedPaths(server)
  const before = await server.collect()
  // What a short run finds is in the assertions.
  const report = await fuzz(server, SEED, REQUESTS, line => REQUESTS > 5_000 && console.log(line))
  console.log(
    [...report.statuses]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  )
  const failures = report.failures.map(({ request, text }) => `${describeRequest(request)} → ${text.slice(0, 300)}`)
  expect.soft(failures).toEqual([])
  expect.soft(report.slow).toEqual([])
  expect((await sendRequest(server, '/readyz', { token: 'admin-token' })).status).toBe(200)
  expect.soft(await deleteStored(server, atStart)).toEqual([])
  const kept = async (): Promise<number> => (await server.collect()).heap - before.heap
  await expect.poll(kept, { timeout: HISTORY_MS, interval: 5_000 }).toBeLessThan(KEPT_BYTES)
  console.log(
    `${((await kept()) / 2 ** 20).toFixed(0)} MiB more than at the start are in use after all objects were deleted`,
  )
})
