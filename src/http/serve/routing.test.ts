import { describe, expect, test } from 'vitest'
import { noteKind, widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createRegistry } from '../../kinds/registry.js'
import { StatusError } from '../../meta/errors/status.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { checkName, createRouter } from './routing.js'

const registry = createRegistry()
registry.put(noteKind())
registry.put({
  ...noteKind(),
  names: { ...noteKind().names, plural: 'nodes' },
  namespaced: false,
  verbs: ['get', 'list'],
})
registry.put({ ...noteKind(), names: { ...noteKind().names, plural: 'namespaces' }, namespaced: false })
registry.put(widgetKind())
registry.put({ ...widgetKind(), names: { ...widgetKind().names, plural: 'planets' }, namespaced: false })
const router = createRouter(registry, [])

/** Where a request leads: `verb namespace/name`, `page`, or the code and message of the Status. */
function lead(request: string, headers: Record<string, string> = {}): string {
  const [method = '', target = ''] = request.split(' ')
  const [path = '', query = ''] = target.split('?')
  try {
    const route = router.route(method, headers, { info: parseRequestInfo(method, path, query), warn: () => {} })
    if (!route) return 'page'
    checkName(route)
    const { verb, target: at } = route
    return `${verb} ${at.namespace}/${at.name}`
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return `${error.status.code} ${error.status.message}`
  }
}

const NOT_FOUND = '404 the server could not find the requested resource'
const NOT_ALLOWED = '405 the server does not allow this method on the requested resource'

describe('built-in kinds', () => {
  test.each([
    ['GET /api/v1/notes', 'list /'],
    ['GET /api/v1/namespaces/a/notes', 'list a/'],
    ['GET /api/v1/namespaces/a/notes?watch=1', 'watch a/'],
    ['GET /api/v1/watch/namespaces/a/notes', 'watch a/'],
    ['GET /api/v1/watch/notes', 'watch /'],
    ['GET /api/v1/namespaces/a/notes/n', 'get a/n'],
    ['GET /api/v1/namespaces/a/notes?fieldSelector=metadata.name%3Dn', 'list a/'],
    ['POST /api/v1/namespaces/a/notes', 'create a/'],
    ['DELETE /api/v1/namespaces/a/notes', 'deletecollection a/'],
    ['DELETE /api/v1/namespaces/a/notes/n', 'delete a/n'],
    ['GET /api/v1/nodes/n', 'get /n'],
    ['GET /api/v1/notes/n', NOT_FOUND],
    ['GET /api/v1/namespaces/a/nodes', NOT_FOUND],
    ['GET /api/v1/namespaces/a/nodes/n', NOT_FOUND],
    ['GET /api/v1/namespaces//nodes/n', NOT_FOUND],
    ['GET /api/v1/watch/namespaces/a/nodes/n', NOT_FOUND],
    ['GET /api/v1/namespaces', 'list /'],
    ['DELETE /api/v1/namespaces/a', 'delete /a'],
    ['GET /api/v1/watch/namespaces/a', 'watch /'],
    // Such a request would be allowed by the rights in namespace a, and done to namespace b.
    ['GET /api/v1/namespaces/a/namespaces', NOT_FOUND],
    ['POST /api/v1/namespaces/a/namespaces', NOT_FOUND],
    ['DELETE /api/v1/namespaces/a/namespaces/b', NOT_FOUND],
    ['DELETE /api/v1/namespaces/a/namespaces/a', NOT_FOUND],
    ['DELETE /api/v1/namespaces//namespaces/b', NOT_FOUND],
    ['PUT /api/v1/namespaces/a/namespaces/b/finalize', NOT_FOUND],
    ['GET /api/v1/watch/namespaces/a/namespaces/b', NOT_FOUND],
    ['GET /api/v1/namespaces/a/notes/n/status', NOT_FOUND],
    ['GET /api/v1/namespaces/a/notes/n/b/c/d', NOT_FOUND],
    ['POST /api/v1/notes', NOT_ALLOWED],
    ['DELETE /api/v1/notes', NOT_ALLOWED],
    ['POST /api/v1/nodes', NOT_ALLOWED],
    ['PUT /api/v1/namespaces/a/notes', NOT_ALLOWED],
    ['POST /api/v1/namespaces/a/notes/n', NOT_ALLOWED],
    ['HEAD /api/v1/namespaces/a/notes/n', NOT_ALLOWED],
    ['OPTIONS /api/v1/namespaces/a/notes', NOT_ALLOWED],
    ['PATCH /api/v1/namespaces/a/notes/n', '415 415: Unsupported Media Type'],
    ['GET /apis//v1/notes', 'page'],
    ['GET //api/v1/notes', 'page'],
    ['GET /api/v1/others', 'page'],
  ])('%s leads to %s', (request, expected) => {
    expect(lead(request)).toBe(expected)
  })

  test('the method is checked before the media types', () => {
    expect(lead('PATCH /api/v1/namespaces/a/notes', { accept: 'text/html' })).toBe(NOT_ALLOWED)
    expect(lead('GET /api/v1/namespaces/a/notes', { accept: 'application/*' })).toMatch(/^406 406: Not Acceptable/)
  })
})

describe('custom kinds', () => {
  const WIDGETS = '/apis/example.com/v1/namespaces/a/widgets'

  test.each([
    [`GET ${WIDGETS}`, 'list a/'],
    ['GET /apis/example.com/v1/widgets', 'list /'],
    ['GET /apis/example.com/v1/namespaces//widgets', 'list /'],
    [`HEAD ${WIDGETS}/w`, 'get a/w'],
    [`POST ${WIDGETS}/w`, 'create a/'],
    [`PUT ${WIDGETS}`, '400 name must be provided'],
    [`GET ${WIDGETS}/..`, `400 Name parameter invalid: "..": may not be '..'`],
    [`OPTIONS ${WIDGETS}`, '405  is not supported on resources of kind "widgets.example.com"'],
    [`GET ${WIDGETS}/w/status`, '404 widgets.example.com "w" not found'],
    [`GET ${WIDGETS}//w`, '404 widgets.example.com "" not found'],
    ['POST /apis/example.com/v1/widgets', 'page'],
    ['GET /apis/example.com/v1/widgets/w', 'page'],
    ['GET /apis/example.com/v1/namespaces/a/planets', 'page'],
    ['GET /apis/example.com/v1/planets/p', 'get /p'],
    ['GET /apis/example.com/v1/gadgets', 'page'],
    ['GET /apis/example.com/v2/widgets', 'page'],
  ])('%s leads to %s', (request, expected) => {
    expect(lead(request)).toBe(expected)
  })
})

test('a deprecated watch path of one object selects it, and its parameters must not select another', () => {
  const route = (query: string) =>
    router.route(
      'GET',
      {},
      { info: parseRequestInfo('GET', '/api/v1/watch/namespaces/a/notes/n', query), warn: () => {} },
    )
  const requested = route('watch=false')!.query
  expect([requested.get('watch'), requested.get('fieldSelector')]).toEqual(['true', 'metadata.name=n'])
  expect(() => route('fieldSelector=metadata.name%3Dother')).toThrow(
    "fieldSelector metadata.name doesn't match requested name",
  )
})

test('a group is built-in if it has a built-in kind', () => {
  const isBuiltin = (path: string) => router.isBuiltinGroup(parseRequestInfo('GET', path, ''))
  expect(isBuiltin('/api/v1/nonsense')).toBe(true)
  expect(isBuiltin('/apis/example.com/v1')).toBe(false)
  registry.put({ ...noteKind(), group: 'apps' })
  expect(isBuiltin('/apis/apps/v9')).toBe(true)
})
