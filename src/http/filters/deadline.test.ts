import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import { isLongRunning, timeLimit } from './deadline.js'

const info = (path: string, query = '') => parseRequestInfo('GET', path, query)

test.each([
  ['', 60_000],
  ['timeout=10s', 10_000],
  ['timeout=0s', 60_000],
  ['timeout=1h', 60_000],
  ['timeout=-1s', 60_000],
])('the time limit with %j is %d ms', (query, milliseconds) => {
  expect(timeLimit(info('/api/v1/pods', query), { requestTimeoutMs: 60_000 })).toBe(milliseconds)
})

test('only watches are long-running', () => {
  expect(isLongRunning(info('/api/v1/pods', 'watch=true'))).toBe(true)
  expect(isLongRunning(info('/api/v1/watch/pods'))).toBe(true)
  expect(isLongRunning(info('/api/v1/pods'))).toBe(false)
})
