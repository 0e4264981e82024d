// The endpoints of the console, on a real server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { type Response, sendRequest } from './request.js'

let server: Binnacle
beforeAll(async () => {
  server = await startBinnacle({
    console: true,
    tokens: { alice: { name: 'alice' }, bob: { name: 'bob' } },
  })
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION)
  for (const role of ROLES) await create(`/apis/rbac.authorization.k8s.io/v1/${role.path}`, role.object)
})
afterAll(() => server.stop())

const properties = {
  size: { type: 'integer', minimum: 1, maximum: 100 },
  color: { type: 'string', enum: ['red', 'green'], default: 'green' },
  hosts: { type: 'array', items: { type: 'string' } },
}
const specSchema = {
  type: 'object',
  required: ['size'],
  properties,
  'x-kubernetes-validations': [{ rule: 'self.size < 50', message: 'too large' }],
}
const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: specSchema } } },
}
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [version],
  },
}
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const WIDGET_KIND = { kind: { group: 'example.com', version: 'v1', kind: 'Widget' } }

/** Alice may use the console and nothing else; Bob may also read config maps. */
const bindingOf = (name: string, user: string, role: string) => ({
  path: 'clusterrolebindings',
  object: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    subjects: [{ kind: 'User', name: user }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  },
})
const roleOf = (name: string, rule: object) => ({
  path: 'clusterroles',
  object: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: [rule] },
})
const ROLES = [
  roleOf('console', { verbs: ['get', 'post'], nonResourceURLs: ['/console/api/history', '/console/api/cel'] }),
  roleOf('config', { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }),
  bindingOf('alice-console', 'alice', 'console'),
  bindingOf('bob-console', 'bob', 'console'),
  bindingOf('bob-config', 'bob', 'config'),
]

const create = async (path: string, body: object): Promise<Response> => {
  const sent = await sendRequest(server, path, { method: 'POST', token: server.token, body })
  expect(sent.status).toBe(201)
  return sent
}
const get = (path: string, token = server.token) => sendRequest(server, `/console/api/${path}`, { token })
const post = (path: string, body: unknown, token = server.token) =>
  sendRequest(server, `/console/api/${path}`, { method: 'POST', token, body })

const configMap = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })

describe('history', () => {
  const at = '/api/v1/namespaces/default/configmaps'
  const path = (name: string) => `history?path=${encodeURIComponent(`${at}/${name}`)}`

  test('has every revision with its changes and managers, the newest first', async () => {
    await create(at, configMap('changing', { a: '1' }))
    for (const value of ['2', '3']) {
      await sendRequest(server, `${at}/changing?fieldManager=editor`, {
        method: 'PATCH',
        token: server.token,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { data: { a: value } },
      })
    }
    const { status, body } = await get(path('changing'))
    expect(status).toBe(200)
    expect(body.complete).toBe(true)
    expect(body.revisions).toHaveLength(3)
    expect(body.revisions[0]).toMatchObject({
      changes: [{ field: 'data.a', before: '2', after: '3' }],
      object: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '3' } },
    })
    expect(body.revisions[1].managers).toEqual(['editor (Update)'])
    expect(body.revisions[2]).toMatchObject({ changes: [], object: { kind: 'ConfigMap', data: { a: '1' } } })
    const versions = body.revisions.map((each: { resourceVersion: string }) => Number(each.resourceVersion))
    expect(versions).toEqual(versions.toSorted((a: number, b: number) => b - a))
    expect(body.revisions[0].time).toMatch(/^\d{4}-/)
    const one = await get(`${path('changing')}&limit=2`)
    expect(one.body).toMatchObject({ complete: false, revisions: [{ changes: [{}] }, { changes: [{ after: '2' }] }] })
  })

  test.each([
    [`history?path=${at}/nothing`, 404],
    ['history?path=/api/v1/namespaces/default/configmaps', 400],
    ['history?path=/version', 400],
    ['history?path=%25zz', 400],
    ['history', 400],
    [`history?path=${at}/a&limit=0`, 400],
    ['history?path=/api/v1/namespaces/default/nonsense/a', 404],
    [`history?path=${at}/../../../secrets/a`, 400],
  ])('%s is answered %i', async (query, status) => {
    expect((await get(query)).status).toBe(status)
  })

  test('needs permission for the path and for the objects', async () => {
    await create(at, configMap('seen', {}))
    expect((await get(path('seen'), 'bob')).status).toBe(200)
    const { status, body } = await get(path('seen'), 'alice')
    expect({ status, message: body.message }).toMatchObject({
      status: 403,
      message: expect.stringContaining('User "alice" cannot get resource "configmaps"'),
    })
    expect((await get('server', 'bob')).body.message).toContain('cannot get path "/console/api/server"')
  })
})

describe('cel', () => {
  test('types self by a kind that is served, built-in or defined', async () => {
    const widget = await post('cel', {
      expression: 'self.spec.size < 50',
      object: { spec: { size: 7 } },
      schema: WIDGET_KIND,
    })
    expect(widget.body).toMatchObject({
      ok: true,
      value: true,
      type: 'bool',
      cost: { actual: 4 },
      tree: { children: [{}] },
    })
    const deployment = await post('cel', {
      expression: 'self.spec.replicas + 1',
      object: { spec: { replicas: 2 } },
      schema: { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } },
    })
    expect(deployment.body).toMatchObject({ value: 3, type: 'int' })
    const wrong = await post('cel', { expression: 'self.spec.nothing', object: {}, schema: WIDGET_KIND })
    expect(wrong.body).toMatchObject({
      ok: false,
      errors: [{ message: "undefined field 'nothing'", line: 1, column: 10 }],
    })
  })

  test('takes a schema as it is written', async () => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { n: { type: 'integer' } } } }
    expect((await post('cel', { expression: 'self.n', object: { n: 4 }, schema })).body).toMatchObject({ type: 'int' })
  })

  test('asks the authorizer for the user who is signed in', async () => {
    const body = {
      environment: 'policy',
      expression: 'authorizer.group("").resource("configmaps").namespace("default").check("list").allowed()',
      object: {},
    }
    expect((await post('cel', body, 'bob')).body.value).toBe(true)
    expect((await post('cel', body, 'alice')).body.value).toBe(false)
    const other = {
      ...body,
      expression: 'authorizer.serviceAccount("default", "default").path("/x").check("get").allowed()',
    }
    expect((await post('cel', other)).body.errors[0].message).toContain('for the user who is signed in')
  })

  test.each([
    ['no object', []],
    ['no expression', {}],
    ['an expression that is too long', { expression: '1'.repeat(20_001) }],
    ['another environment', { expression: '1', environment: 'other' }],
    ['a kind that is not served', { expression: '1', schema: { kind: { group: 'x', version: 'v1', kind: 'Y' } } }],
    ['a schema with members of wrong types', { expression: '1', schema: { openAPIV3Schema: { properties: 7 } } }],
    ['a schema that is too deep', { expression: '1', schema: { openAPIV3Schema: nested(1000) } }],
    ['a body that is no JSON', '{'],
  ])('%s is answered 400', async (_, body) => {
    expect(await post('cel', body)).toMatchObject({ status: 400, body: { kind: 'Status' } })
  })

  function nested(depth: number): object {
    let schema: object = { type: 'string' }
    for (let i = 0; i < depth; i++) schema = { type: 'array', items: schema }
    return schema
  }

  test('is bounded where an expression would compute for long', async () => {
    const list = Array.from({ length: 3000 }, (_, i) => i)
    const { body } = await post('cel', {
      expression: 'self.l.all(a, self.l.all(b, a <= b || true))',
      object: { l: list },
    })
    expect(body.errors).toEqual([{ message: 'operation cancelled: actual cost limit exceeded' }])
  })
})

test('costs lists the rules of each version, and bounds for expensive ones', async () => {
  const rules = [{ rule: 'self.hosts.all(h, self.hosts.all(g, g.contains(h)))' }, { rule: 'self.size >' }]
  const spec = { ...specSchema, 'x-kubernetes-validations': rules }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const definition = { ...DEFINITION, spec: { ...DEFINITION.spec, versions: [{ ...version, schema }] } }
  const { status, body } = await post('costs', { definition })
  expect(status).toBe(200)
  const [expensive, wrong] = body.versions[0].rules
  expect(expensive).toMatchObject({ path: 'spec', limit: 10_000_000, times: 1 })
  expect(expensive.estimate).toBeGreaterThan(10_000_000)
  expect(expensive.bounds).toEqual(
    expect.arrayContaining([expect.objectContaining({ field: expect.stringContaining('spec.hosts') })]),
  )
  expect(wrong.error).toContain('Syntax error')
  expect((await post('costs', { definition: {} })).status).toBe(400)
})

test('plan says what a change would break, with the objects that are stored', async () => {
  const widget = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { size: 10, color: 'red' },
  }
  await create(WIDGETS, widget)
  const changed = { ...specSchema, properties: { size: { type: 'integer', minimum: 1, maximum: 5 } } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: changed } } }
  const definition = { ...DEFINITION, spec: { ...DEFINITION.spec, versions: [{ ...version, schema }] } }
  const { body } = await post('plan', { definition })
  expect(body).toMatchObject({ exists: true, objects: 1, truncated: false })
  const texts = body.findings.map(
    (each: { rule: string; message: string; object?: string }) => `${each.rule} ${each.object ?? ''}: ${each.message}`,
  )
  expect(texts).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^breaks-/),
      'stored-object Widget default/w: spec.color is dropped',
      expect.stringContaining('stored-object Widget default/w: spec.size'),
    ]),
  )
  const same = await post('plan', { definition: DEFINITION })
  expect(same.body.findings.filter((each: { severity: string }) => each.severity === 'error')).toEqual([])
})

describe('sample', () => {
  test('gives an object of a defined kind that the server takes', async () => {
    const { body } = await post('sample', { schema: WIDGET_KIND })
    expect(body.object).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'example', namespace: 'default' },
      spec: { size: 1, color: 'green' },
    })
    await create(WIDGETS, body.object)
  })

  test('gives every field on request', async () => {
    const { body } = await post('sample', { schema: WIDGET_KIND, optional: true })
    expect(body.object.spec).toEqual({ size: 1, color: 'green', hosts: ['example'] })
  })

  test('gives an object of a built-in kind', async () => {
    const { body } = await post('sample', { schema: { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } } })
    expect(body.object).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { selector: {}, template: {} },
    })
  })
})

test('server shows health, load, storage and requests', async () => {
  await sendRequest(server, '/api/v1/namespaces/default/pods', { token: server.token })
  const { status, body } = await get('server')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    version: expect.stringMatching(/^v1\./),
    testing: false,
    health: {
      ok: true,
      checks: [
        { name: 'etcd', ok: true },
        { name: 'informer-sync', ok: true },
        { name: 'shutdown', ok: true },
      ],
    },
    storage: { kind: 'memory', historySeconds: 300, revision: expect.any(Number) },
    load: { watches: expect.any(Number) },
  })
  expect(body.storage.objects).toContainEqual({ group: 'example.com', resource: 'widgets', count: expect.any(Number) })
  const lists = body.requests.find(
    (row: { verb: string; resource: string }) => row.verb === 'LIST' && row.resource === 'pods',
  )
  expect(lists).toMatchObject({ group: '', version: 'v1', count: 1, errors: 0, codes: { 200: 1 } })
  expect(lists.p99Ms).toBeGreaterThanOrEqual(lists.p50Ms)
})

test('requests are kept with their users and why they were allowed or refused', async () => {
  const { next } = (await get('requests')).body
  await sendRequest(server, '/api/v1/namespaces/default/configmaps', { token: 'bob' })
  await sendRequest(server, '/api/v1/secrets?limit=1', { token: 'bob' })
  await sendRequest(server, '/api/v1/secrets', { token: 'wrong' })
  const { body } = await get(`requests?after=${next}`)
  const seen = body.requests.filter((each: { path: string }) => each.path.startsWith('/api/v1'))
  expect(seen).toMatchObject([
    {
      user: 'bob',
      verb: 'list',
      resource: 'configmaps',
      namespace: 'default',
      status: 200,
      decision: 'allow',
      reason: expect.stringContaining('bob-config'),
    },
    { user: 'bob', query: 'limit=1', status: 403, decision: 'forbid' },
    { status: 401, decision: 'none' },
  ])
  expect(seen[0].milliseconds).toBeGreaterThan(0)
  expect(body.next).toBeGreaterThan(next)
})

test('an endpoint takes one method', async () => {
  expect((await post('server', {})).status).toBe(405)
  expect((await get('cel')).status).toBe(405)
})
