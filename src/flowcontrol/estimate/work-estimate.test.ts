import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import { createWatchCounts } from './watch-counts.js'
import { createEstimate } from './work-estimate.js'

const info = (method: string, path: string, query = '') => parseRequestInfo(method, path, query)
const estimateWith = (count: number, averageBytes: number, watches = 0) =>
  createEstimate({ statsOf: () => ({ count, averageBytes }), watchesOf: () => watches, watchList: true })

test.each([
  ['', 1000, 1000, 10],
  ['', 10, 1000, 1],
  ['', 1_000_000, 1000, 10],
  ['limit=100', 1000, 1000, 1],
  ['limit=500&resourceVersion=7', 1000, 10_000, 50],
  ['continue=x&limit=10&labelSelector=a', 1000, 10_000, 50],
  ['continue=x', 100_000, 10_000, 100],
  ['fieldSelector=metadata.name%3Da', 1000, 1000, 1],
  ['watch=true', 1000, 1000, 10],
  ['watch=true&resourceVersion=5', 1000, 1000, 1],
])('a list with %j of %i objects of %i bytes takes %i seats', (query, count, bytes, seats) => {
  const estimate = estimateWith(count, bytes)
  expect(estimate(info('GET', '/api/v1/pods', query), 0).initialSeats).toBe(seats)
})

test('a list takes no more seats than its level allows', () => {
  expect(estimateWith(1000, 1000)(info('GET', '/api/v1/pods'), 4).initialSeats).toBe(4)
})

test('a write with many watchers keeps seats for its events', () => {
  const write = info('PUT', '/api/v1/namespaces/a/pods/p')
  const of = (watches: number, maxSeats = 0) => estimateWith(0, 0, watches)(write, maxSeats)
  expect(of(9)).toEqual({ initialSeats: 1, finalSeats: 0, additionalMs: 0 })
  expect(of(35)).toEqual({ initialSeats: 1, finalSeats: 4, additionalMs: 5 })
  expect(of(400)).toEqual({ initialSeats: 1, finalSeats: 10, additionalMs: 20 })
  expect(of(35, 2)).toEqual({ initialSeats: 1, finalSeats: 2, additionalMs: 10 })
})

test('watches count for what they may see', () => {
  const counts = createWatchCounts()
  const forget = ['/api/v1/pods', '/api/v1/namespaces/a/pods', '/api/v1/namespaces/b/pods', '/api/v1/nodes'].map(path =>
    counts.add(info('GET', path, 'watch=true')),
  )
  counts.add(info('GET', '/api/v1/namespaces/a/pods', 'watch=true&fieldSelector=metadata.name%3Dp'))
  counts.add(info('GET', '/api/v1/pods', 'watch=true&fieldSelector=spec.nodeName%3Dn'))
  expect(counts.of(info('PUT', '/api/v1/namespaces/a/pods/p'))).toBe(3)
  expect(counts.of(info('PUT', '/api/v1/namespaces/a/pods/q'))).toBe(2)
  for (const each of forget) each()
  expect(counts.of(info('PUT', '/api/v1/namespaces/a/pods/q'))).toBe(0)
})
