// The recordings are the specification. Scenarios that do not pass yet are listed in pending.txt, which may only shrink.
// `SHRINK_PENDING=1 npx vitest run test/conformance` removes scenarios from the list that pass now.
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { type Outcomes, readScenarios, replayAll } from './replay-all.js'

const list = new URL('./pending.txt', import.meta.url)
const pending = new Set(readFileSync(list, 'utf8').split('\n').filter(Boolean))
let server: BinnacleProcess
let outcomes: Outcomes

beforeAll(async () => {
  server = await startBinnacleProcess('--storage=memory')
  outcomes = await replayAll({ url: server.url, token: 'admin-token', pending })
  if (process.env.SHRINK_PENDING) {
    for (const name of pending) if (passed(name)) pending.delete(name)
    writeFileSync(list, [...pending].map(name => `${name}\n`).join(''))
  }
}, 600_000)

afterAll(() => server?.stop())

const passed = (name: string) => outcomes.has(name) && outcomes.get(name) === undefined

test('there are recordings to replay', () => {
  expect(outcomes.size).toBeGreaterThan(1000)
  expect(outcomes.size).toBe(new Set(readScenarios().map(({ name }) => name)).size)
})

test('every scenario that is not pending passes', () => {
  const failed = [...outcomes].flatMap(([name, difference]) =>
    difference === undefined || pending.has(name) ? [] : [`${name}: ${difference}`],
  )
  expect(failed).toEqual([])
})

test('every pending scenario still fails; one that passes must be removed from the list', () => {
  expect([...pending].filter(passed)).toEqual([])
})

test('the list of pending scenarios has recorded scenarios only', () => {
  expect([...pending].filter(name => !outcomes.has(name))).toEqual([])
})
