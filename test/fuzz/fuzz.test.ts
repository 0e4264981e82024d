// Requests from generators against a server: none is answered by a bug, none stops the others, and the memory comes back.
// `npm run fuzz -- --requests N --seed S` runs more of them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MeasuredBinnacle, startMeasuredBinnacle } from '../components/measured-binnacle.js'
import { sendRequest } from '../server/request.js'
import { describeRequest, fuzz } from './fuzz.js'

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 5_000)
/** Always the same ones in the test, so that it fails for everybody or for none. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
/** What a server keeps of the objects that were stored and of its caches. */
const KEPT_BYTES = 150 * 2 ** 20

let server: MeasuredBinnacle
beforeAll(async () => {
  server = await startMeasuredBinnacle('--storage=memory')
}, 600_000)
afterAll(() => server?.stop())

test(`${REQUESTS} generated requests`, { timeout: 60_000 + REQUESTS * 100 }, async () => {
  const before = await server.collect()
  const report = await fuzz(server, SEED, REQUESTS)
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
  const after = await server.collect()
  expect(after.heap - before.heap).toBeLessThan(KEPT_BYTES)
})
