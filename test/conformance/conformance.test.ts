// The recordings are the specification: every scenario passes.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { acceptedAnswers } from './accepted-answers.mjs'
import { type Outcomes, readScenarios, replayAll } from './replay-all.js'

let server: BinnacleProcess
let outcomes: Outcomes

beforeAll(async () => {
  server = await startBinnacleProcess('--storage=memory')
  outcomes = await replayAll({ url: server.url, token: 'admin-token' })
}, 600_000)

afterAll(() => server?.stop())

test('there are recordings to replay', () => {
  expect(outcomes.size).toBeGreaterThan(1000)
  expect(outcomes.size).toBe(new Set(readScenarios().map(({ name }) => name)).size)
})

test('every scenario passes', () => {
  const failed = [...outcomes].flatMap(([name, difference]) =>
    difference === undefined ? [] : `${name}: ${difference}`,
  )
  expect(failed).toEqual([])
})

test('an answer that was recorded before a change of policies was in effect may also be a later one', () => {
  const [denied, admitted] = [{ status: 422 }, { status: 201 }]
  const create = { method: 'POST', path: '/api/v1/namespaces/a/configmaps', eventually: true }
  const removal = { method: 'DELETE', path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p' }
  const steps = [{ ...create, expect: admitted }, { ...create, expect: denied }, removal, { ...create, expect: denied }]
  expect(acceptedAnswers(steps, 1)).toEqual([denied])
  expect(acceptedAnswers(steps, 2)).toBeUndefined()
  expect(acceptedAnswers(steps, 3)).toEqual([denied, admitted, denied])
  expect(acceptedAnswers(steps.with(2, { ...removal, method: 'GET' }), 3)).toEqual([denied])
  expect(acceptedAnswers(steps.with(3, { ...create, expect: admitted }), 3)).toEqual([admitted])
})
