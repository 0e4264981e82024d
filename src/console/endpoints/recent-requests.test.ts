import { expect, test } from 'vitest'
import type { ServedRequest } from '../../http/handler.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { createRecentRequests } from './recent-requests.js'

const served = (path: string, more: object = {}): ServedRequest =>
  ({
    info: parseRequestInfo('GET', path, ''),
    user: { name: 'alice', uid: '', groups: ['devs'], extra: {} },
    decision: { allowed: true, reason: 'because' },
    exchange: { method: 'GET', path, query: '' },
    userAgent: 'test',
    auditId: 'id',
    ...more,
  }) as unknown as ServedRequest

test('the last requests are kept, in order', () => {
  const recent = createRecentRequests(() => 5, 3)
  for (const name of ['a', 'b', 'c', 'd']) recent.add(served(`/api/v1/namespaces/x/pods/${name}`), 200, 1)
  expect(recent.after(0).map(({ seq, name }) => [seq, name])).toEqual([
    [2, 'b'],
    [3, 'c'],
    [4, 'd'],
  ])
  expect(recent.after(3).map(({ name }) => name)).toEqual(['d'])
  expect([recent.after(4), recent.after(99), recent.count]).toEqual([[], [], 4])
})

test('what a client can make large is cut off', () => {
  const recent = createRecentRequests()
  const long = 'x'.repeat(100_000)
  recent.add(
    served(`/api/v1/namespaces/x/pods/${long}`, {
      userAgent: long,
      auditId: long,
      exchange: { method: long, path: `/api/v1/namespaces/x/pods/${long}`, query: long },
      impersonator: { name: long },
      user: { name: long, uid: '', groups: Array.from({ length: 2_000 }, () => long), extra: {} },
      decision: { allowed: false, reason: long },
    }),
    414,
    1,
  )
  const [kept] = recent.after(0)
  expect(JSON.stringify(kept).length).toBeLessThan(30_000)
  expect(kept).toMatchObject({ verb: 'get', name: '', resource: '' })
})

test('a request that was refused before authorization has no decision', () => {
  const recent = createRecentRequests()
  recent.add(served('/version', { decision: undefined, impersonator: { name: 'root' } }), 401, 1)
  expect(recent.after(0)).toMatchObject([{ decision: 'none', reason: '', impersonator: 'root' }])
})
