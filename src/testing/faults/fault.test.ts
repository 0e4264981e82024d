import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import { checkFault, matches } from './fault.js'

test('a fault with each of its effects is accepted', () => {
  for (const fault of [
    { latency: '2s' },
    { latency: 0 },
    { status: 503, retryAfter: 1 },
    { cut: 'after', verb: ['create'] },
    { watch: { dropAfter: 1, delay: '1s', withholdBookmarks: true, expired: false } },
  ])
    expect(checkFault(fault)).toBe(fault)
})

test.each([
  [{ latency: -1 }, 'latency: -1 is not a duration'],
  [{ latency: 1e300 }, 'latency: 1e+300 is not a duration'],
  [{ latency: '1y' }, '"1y" is not a duration'],
  [{ watch: { delay: {} } }, 'delay: {} is not a duration'],
  [{ verb: 'lst', status: 409 }, 'verb: there is no lst: did you mean list?'],
  [{ verb: ['get', 'connect'], status: 409 }, 'verb: there is no connect: it must be one of get, list, watch'],
  [{ watch: { dropAftr: 1 } }, 'the fault of a watch has no field dropAftr: did you mean dropAfter?'],
  [{ watch: { constructor: 1 } }, 'the fault of a watch has no field constructor'],
  [JSON.parse('{"__proto__": {"status": 500}, "status": 409}'), 'a fault has no field __proto__'],
  [{ status: 200 }, 'status: 200: it must be one of'],
  [{ status: 500, probability: 5 }, 'probability: 5 is not a number from 0 to 1'],
  [{ status: 500, times: 0 }, 'times: 0 is not a whole number of at least 1'],
  [{ latency: 1, retryAfter: 1 }, 'retryAfter belongs to a status'],
  [{ verb: 'get', watch: { delay: 1 } }, 'watch has no effect on get: it needs watch'],
  [{ verb: ['create', 'patch'], behind: 1 }, 'behind has no effect on create, patch: it needs get, list, watch'],
])('%j is refused', (fault, message) => {
  expect(() => checkFault(fault)).toThrow(message)
})

test('a fault meets the requests alone on which it has an effect', () => {
  const requests = [
    parseRequestInfo('GET', '/api/v1/pods', ''),
    parseRequestInfo('GET', '/api/v1/pods', 'watch=true'),
    parseRequestInfo('POST', '/api/v1/pods', ''),
  ]
  const met = (fault: object) => requests.filter(info => matches(fault, info, 'Pod', 'jane')).map(({ verb }) => verb)
  expect(met({ behind: 1 })).toEqual(['list', 'watch'])
  expect(met({ watch: { delay: 1 } })).toEqual(['watch'])
  expect(met({ watch: { delay: 1 }, behind: 1 })).toEqual(['list', 'watch'])
  expect(met({ latency: 1 })).toEqual(['list', 'watch', 'create'])
  expect(met({ latency: 1, kind: ['Pod', 'Node'], verb: 'list' })).toEqual(['list'])
  expect(met({ latency: 1, kind: 'Node' })).toEqual([])
})
