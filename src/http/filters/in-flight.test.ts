import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import { createInFlightLimiter } from './in-flight.js'

const request = (method: string, path: string, groups: string[] = [], query = ''): IncomingRequest =>
  ({
    info: parseRequestInfo(method, path, query),
    user: { groups },
    exchange: { path, query, rawHeaders: [] },
  }) as unknown as IncomingRequest
const read = (groups?: string[]) => request('GET', '/api/v1/pods', groups)
const write = () => request('POST', '/api/v1/namespaces/a/pods')

test('reading and mutating requests are counted apart', () => {
  const inFlight = createInFlightLimiter({ maxReading: 1, maxMutating: 1, maxWatches: 1 })
  const first = read()
  const allowed = [first, read(), write(), write()].map(each => inFlight.acquire(each))
  expect(allowed).toEqual([true, false, true, false])
  inFlight.release(first)
  expect(inFlight.acquire(read())).toBe(true)
  expect([inFlight.reading, inFlight.mutating]).toEqual([1, 1])
})

test('releasing a request twice, or one that was never counted, changes nothing', () => {
  const inFlight = createInFlightLimiter({ maxReading: 2, maxMutating: 1, maxWatches: 1 })
  const first = read()
  for (const each of [first, read()]) inFlight.acquire(each)
  for (const each of [first, first, read()]) inFlight.release(each)
  expect(inFlight.reading).toBe(1)
})

test('administrators and watches are never refused', () => {
  const inFlight = createInFlightLimiter({ maxReading: 1, maxMutating: 1, maxWatches: 1 })
  inFlight.acquire(read())
  expect(inFlight.acquire(read(['system:masters']))).toBe(true)
  expect(inFlight.acquire(request('GET', '/api/v1/pods', [], 'watch=true'))).toBe(true)
  expect(inFlight.reading).toBe(1)
})

test('watches hold only so much in their headers, and those with usual ones are not refused for it', () => {
  const inFlight = createInFlightLimiter({ maxReading: 0, maxMutating: 0, maxWatches: 1_000 })
  const watch = (length: number, groups?: string[]) =>
    request('GET', '/api/v1/pods', groups, `watch=true&a=${'x'.repeat(length)}`)
  const large = Array.from({ length: 100 }, () => watch(1_000_000))
  const allowed = large.filter(each => inFlight.acquire(each))
  expect(allowed).toHaveLength(67)
  expect([inFlight.acquire(watch(1_000)), inFlight.acquire(watch(1_000_000, ['system:masters']))]).toEqual([true, true])
  for (const each of allowed.slice(0, 2)) inFlight.release(each)
  expect([inFlight.acquire(watch(1_000_000)), inFlight.acquire(watch(1_000_000))]).toEqual([true, true])
  expect(inFlight.acquire(watch(1_000_000))).toBe(false)
})

test('0 is no limit', () => {
  const inFlight = createInFlightLimiter({ maxReading: 0, maxMutating: 0, maxWatches: 1 })
  expect(Array.from({ length: 1000 }, () => inFlight.acquire(read())).every(Boolean)).toBe(true)
})
