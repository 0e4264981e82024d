import { describe, expect, test } from 'vitest'
import { MalformedPath, parseRequestInfo, type RequestInfo } from './request-info.js'

const parse = (request: string): RequestInfo => {
  const [method = '', target = ''] = request.split(' ')
  const [path = '', query = ''] = target.split('?')
  return parseRequestInfo(method, path, query)
}

describe('requests for resources', () => {
  test.each<[string, Partial<RequestInfo>]>([
    ['GET /api/v1/pods', { verb: 'list', group: '', version: 'v1', resource: 'pods', namespace: '', name: '' }],
    ['GET /api/v1/namespaces/a/pods/', { verb: 'list', namespace: 'a', resource: 'pods' }],
    ['GET /api/v1/namespaces/a/pods/p', { verb: 'get', namespace: 'a', resource: 'pods', name: 'p' }],
    ['GET /api/v1/namespaces/a/pods', { isInNamespace: true }],
    ['GET /api/v1/pods', { isInNamespace: false }],
    [
      'GET /api/v1/namespaces/a',
      { verb: 'get', namespace: 'a', resource: 'namespaces', name: 'a', isInNamespace: false },
    ],
    ['GET /api/v1/namespaces/a/namespaces/b', { namespace: 'a', name: 'b', isInNamespace: true }],
    [
      'PUT /api/v1/namespaces/a/finalize',
      { verb: 'update', resource: 'namespaces', name: 'a', subresource: 'finalize' },
    ],
    ['GET /apis/apps/v1/deployments?watch', { verb: 'watch', group: 'apps', resource: 'deployments' }],
    ['GET /apis/apps/v1/deployments?watch=0', { verb: 'list' }],
    ['GET /apis/apps/v1/namespaces/a/deployments/d?watch=1', { verb: 'get', name: 'd' }],
    ['HEAD /api/v1/pods', { verb: 'list' }],
    ['POST /api/v1/namespaces/a/pods', { verb: 'create' }],
    ['PATCH /api/v1/namespaces/a/pods/p/status', { verb: 'patch', name: 'p', subresource: 'status' }],
    ['DELETE /api/v1/namespaces/a/pods', { verb: 'deletecollection' }],
    ['DELETE /api/v1/namespaces/a/pods/p', { verb: 'delete' }],
    ['OPTIONS /api/v1/pods', { verb: '' }],
    ['GET /api/v1/pods/p/a/b/c', { subresource: 'a', rest: ['b', 'c'] }],
    ['GET /api/v1/namespaces//pods', { verb: 'list', namespace: '', resource: 'pods' }],
    ['GET /api/v1/pods//p', { verb: 'list', name: '', subresource: 'p' }],
    ['GET /api/v1/watch/namespaces/a/pods/p', { verb: 'watch', namespace: 'a', name: 'p', isOldWatch: true }],
    ['GET /api/v1/pods?fieldSelector=metadata.name%3Dp', { verb: 'list', name: 'p' }],
    ['GET /api/v1/pods?fieldSelector=metadata.name%3Da%2Fb', { verb: 'list', name: '' }],
    ['DELETE /api/v1/pods?fieldSelector=metadata.name%3Dp', { verb: 'deletecollection', name: '' }],
    ['GET /api/v1/pods/a%2Db', { name: 'a-b' }],
    ['GET /api/v1/pods/%C3%A4', { name: 'ä' }],
    ['GET /api/v1/pods/%FF', { name: '\ufffd' }],
  ])('%s', (request, expected) => {
    expect(parse(request)).toMatchObject({ isResource: true, ...expected })
  })
})

test.each<[string, Partial<RequestInfo>]>([
  ['GET /healthz', { verb: 'get', path: '/healthz', prefix: '' }],
  ['POST /api/v1', { verb: 'post', prefix: 'api', version: 'v1' }],
  ['GET /apis', { prefix: 'apis', group: '' }],
  ['GET /apis/apps/v1/', { prefix: 'apis', group: 'apps', version: 'v1' }],
])('%s names no resource', (request, expected) => {
  expect(parse(request)).toMatchObject({ isResource: false, ...expected })
})

test('a path that cannot be decoded is an error', () => {
  expect(() => parse('GET /api/v1/pods/%')).toThrow(MalformedPath)
  expect(() => parse('GET /api/v1/pods/%zz')).toThrow(MalformedPath)
})

test('parameters that are not well formed are ignored', () => {
  expect([...parse('GET /api/v1/pods?a=%zz&b=1;c=2&d=%20').query]).toEqual([['d', ' ']])
})
