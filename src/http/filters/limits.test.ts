import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import { countInFlight, DEFAULT_LIMITS, isLongRunning, timeLimit } from './limits.js'

const info = (method: string, path: string, query = '') => parseRequestInfo(method, path, query)

test('requests that read and requests that change things are counted apart', () => {
  const inFlight = countInFlight({ ...DEFAULT_LIMITS, maxReading: 1, maxMutating: 1 })
  const read = info('GET', '/api/v1/pods')
  const write = info('POST', '/api/v1/namespaces/a/pods')
  expect([inFlight.enter(read), inFlight.enter(read), inFlight.enter(write), inFlight.enter(write)]).toEqual([
    true,
    false,
    true,
    false,
  ])
  inFlight.leave(read)
  expect(inFlight.enter(read)).toBe(true)
  expect([inFlight.reading, inFlight.mutating]).toEqual([1, 1])
})

test('no limit is no limit', () => {
  const inFlight = countInFlight({ ...DEFAULT_LIMITS, maxReading: 0 })
  const read = info('GET', '/healthz')
  expect(Array.from({ length: 1000 }, () => inFlight.enter(read)).every(Boolean)).toBe(true)
})

test.each([
  ['', 60_000],
  ['timeout=10s', 10_000],
  ['timeout=0s', 60_000],
  ['timeout=1h', 60_000],
  ['timeout=-1s', 60_000],
])('the time limit with %j is %d ms', (query, milliseconds) => {
  expect(timeLimit(info('GET', '/api/v1/pods', query), DEFAULT_LIMITS)).toBe(milliseconds)
})

test('only watches last', () => {
  expect(isLongRunning(info('GET', '/api/v1/pods', 'watch=true'))).toBe(true)
  expect(isLongRunning(info('GET', '/api/v1/watch/pods'))).toBe(true)
  expect(isLongRunning(info('GET', '/api/v1/pods'))).toBe(false)
})
