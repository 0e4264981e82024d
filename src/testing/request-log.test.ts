import { expect, test } from 'vitest'
import type { ServedRequest } from '../http/handler.js'
import { parseRequestInfo } from '../request/request-info.js'
import { createRequestLog } from './request-log.js'

const served = (query: string): ServedRequest =>
  ({
    info: parseRequestInfo('GET', '/api/v1/pods', ''),
    user: { name: 'alice' },
    userAgent: 'test',
    exchange: { method: 'GET', query },
  }) as unknown as ServedRequest

test('long requests replace older ones, so that they do not fill the memory', () => {
  const log = createRequestLog()
  const long = 'x'.repeat(4 * 1024 * 1024)
  for (let i = 0; i < 20; i++) log.add(served(long), 200, 1)
  expect(log.length).toBe(7)
  expect(log.since(18)).toHaveLength(2)
  for (let i = 0; i < 10_001; i++) log.add(served(''), 200, 1)
  expect([log.length, log.count]).toEqual([10_000, 10_021])
})
