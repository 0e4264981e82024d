// Objects with very many items: the time is proportional to the size of the body, and the answer is not much larger.
// Most have nearly as many values as an object may have (`meta/object/value-limit.ts`).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HostileServer, many, sendWithin, startHostileServer } from './hostile-server.js'

let server: HostileServer
beforeAll(async () => {
  server = await startHostileServer()
})
afterAll(() => server?.stop())

/** So many items with no members are just allowed. */
const DENSE = 99_900

const NAMESPACE = '/api/v1/namespaces/default'
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const object = (rest: string): string => `{"metadata":{"generateName":"hostile-"},${rest}}`
const withMeta = (rest: string): string => `{"metadata":{"generateName":"hostile-",${rest}}}`
const pod = (spec: string): string => object(`"spec":{${spec}}`)
const CONTAINER = '"containers":[{"name":"a","image":"x"}]'
const entry = (i: number, operation: string): string =>
  `{"manager":"m${i}","operation":"${operation}","apiVersion":"v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a${i}":{}}}}`

test.each<[what: string, path: string, status: number, body: string]>([
  [
    'updaters in managedFields',
    `${NAMESPACE}/configmaps`,
    201,
    withMeta(`"managedFields":[${many(3_000, i => entry(i, 'Update'))}]`),
  ],
  [
    'appliers in managedFields',
    `${NAMESPACE}/configmaps`,
    201,
    withMeta(`"managedFields":[${many(3_000, i => entry(i, 'Apply'))}]`),
  ],
  ['too many ports', `${NAMESPACE}/services`, 413, object(`"spec":{"ports":[${many(900_000, () => '{}')}]}`)],
  ['empty ports', `${NAMESPACE}/services`, 422, object(`"spec":{"ports":[${many(DENSE, () => '{}')}]}`)],
  [
    'ports',
    `${NAMESPACE}/services`,
    422,
    object(`"spec":{"ports":[${many(30_000, i => `{"port":${i},"name":"a${i}"}`)}]}`),
  ],
  ['empty containers', `${NAMESPACE}/pods`, 422, pod(`"containers":[${many(DENSE, () => '{}')}]`)],
  ['containers', `${NAMESPACE}/pods`, 201, pod(`"containers":[${many(30_000, i => `{"name":"a${i}","image":"x"}`)}]`)],
  [
    'empty variables',
    `${NAMESPACE}/pods`,
    422,
    pod(`"containers":[{"name":"a","image":"x","env":[${many(DENSE, () => '{}')}]}]`),
  ],
  ['volumes', `${NAMESPACE}/pods`, 201, pod(`${CONTAINER},"volumes":[${many(45_000, i => `{"name":"v${i}"}`)}]`)],
  [
    'tolerations',
    `${NAMESPACE}/pods`,
    201,
    pod(`${CONTAINER},"tolerations":[${many(30_000, i => `{"key":"a${i}","operator":"Exists"}`)}]`),
  ],
  [
    'topology spread constraints',
    `${NAMESPACE}/pods`,
    201,
    pod(
      `${CONTAINER},"topologySpreadConstraints":[${many(15_000, i => `{"maxSkew":1,"topologyKey":"a${i}","whenUnsatisfiable":"DoNotSchedule"}`)}]`,
    ),
  ],
  [
    'limits of a container',
    `${NAMESPACE}/pods`,
    201,
    pod(`"containers":[{"name":"a","image":"x","resources":{"limits":{${many(40_000, i => `"a.b/r${i}":"1"`)}}}}]`),
  ],
  [
    'limits of a LimitRange',
    `${NAMESPACE}/limitranges?dryRun=All`,
    201,
    object(`"spec":{"limits":[{"type":"Container","max":{${many(80_000, i => `"a.b/r${i}":"1"`)}}}]}`),
  ],
  [
    'topologies of a StorageClass',
    '/apis/storage.k8s.io/v1/storageclasses',
    201,
    object(
      `"provisioner":"a","allowedTopologies":[${many(15_000, i => `{"matchLabelExpressions":[{"key":"a","values":["v${i}"]}]}`)}]`,
    ),
  ],
  [
    'node ports of a dry run',
    `${NAMESPACE}/services?dryRun=All`,
    422,
    object(`"spec":{"type":"NodePort","ports":[${many(30_000, i => `{"port":${i},"name":"a${i}"}`)}]}`),
  ],
  ['families', `${NAMESPACE}/services`, 422, object(`"spec":{"ipFamilies":[${many(150_000, () => '"a"')}]}`)],
  ['finalizers', `${NAMESPACE}/configmaps`, 422, withMeta(`"finalizers":[${many(150_000, () => '"a"')}]`)],
  ['empty owners', `${NAMESPACE}/configmaps`, 422, withMeta(`"ownerReferences":[${many(DENSE, () => '{}')}]`)],
  [
    'owners',
    `${NAMESPACE}/configmaps`,
    201,
    withMeta(
      `"ownerReferences":[${many(18_000, i => `{"apiVersion":"v1","kind":"Pod","name":"a${i}","uid":"u${i}"}`)}]`,
    ),
  ],
  [
    'controllers',
    `${NAMESPACE}/configmaps`,
    422,
    withMeta(
      `"ownerReferences":[${many(3_000, i => `{"apiVersion":"v1","kind":"Pod","name":"a${i}","uid":"u${i}","controller":true}`)}]`,
    ),
  ],
  ['bad labels', `${NAMESPACE}/configmaps`, 422, withMeta(`"labels":{${many(90_000, i => `"!a${i}":"!"`)}}`)],
  ['bad keys', `${NAMESPACE}/configmaps`, 422, object(`"data":{${many(90_000, i => `"!k${i}":""`)}}`)],
  ['keys', `${NAMESPACE}/configmaps`, 201, object(`"data":{${many(90_000, i => `"k${i}":""`)}}`)],
  ['unknown fields', `${NAMESPACE}/configmaps`, 201, object(many(90_000, i => `"x${i}":1`))],
  [
    'unknown fields, strict',
    `${NAMESPACE}/configmaps?fieldValidation=Strict`,
    400,
    object(many(90_000, i => `"x${i}":1`)),
  ],
  [
    'repeated fields, strict',
    `${NAMESPACE}/configmaps?fieldValidation=Strict`,
    400,
    object(many(50_000, () => '"x":1')),
  ],
  [
    'empty claims',
    '/apis/apps/v1/namespaces/default/statefulsets',
    422,
    object(`"spec":{"volumeClaimTemplates":[${many(DENSE, () => '{}')}]}`),
  ],
  ['scopes of a quota', `${NAMESPACE}/resourcequotas`, 422, object(`"spec":{"scopes":[${many(190_000, () => '""')}]}`)],
  ['empty rules', ROLES, 422, object(`"rules":[${many(DENSE, () => '{}')}]`)],
  [
    'rules',
    ROLES,
    201,
    object(`"rules":[${many(15_000, i => `{"verbs":["get"],"apiGroups":["g${i}"],"resources":["r"]}`)}]`),
  ],
])('%s', { timeout: 60_000 }, async (_, path, status, body) => {
  expect((await sendWithin(server, 'POST', path, body)).status).toBe(status)
})

test('a long name that is no text, in protobuf', { timeout: 60_000 }, async () => {
  const field = (number: number, bytes: Buffer): Buffer => {
    const length: number[] = []
    for (let rest = bytes.length; rest > 0; rest >>>= 7) length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
  }
  const type = Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from('ConfigMap'))])
  const longName = field(1, field(1, Buffer.alloc(2_900_000, 0xff)))
  const body = Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, longName)])
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  expect((await sendWithin(server, 'POST', `${NAMESPACE}/configmaps`, body, headers)).status).toBe(422)
})

describe('custom objects', () => {
  const definition = (properties: string): string =>
    `{"metadata":{"name":"hostiles.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"hostiles","kind":"Hostile"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{${properties}}}}}]}}`

  beforeAll(async () => {
    const list = (name: string, type: string, items: string): string =>
      `"${name}":{"type":"array","x-kubernetes-list-type":"${type}",${type === 'map' ? '"x-kubernetes-list-map-keys":["a"],' : ''}"items":${items}}`
    const schema = [
      list('set', 'set', '{"type":"string"}'),
      list('map', 'map', '{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}'),
      list('branches', 'atomic', `{"type":"string","allOf":[${many(10_000, () => '{}')}]}`),
      list(
        'defaults',
        'atomic',
        `{"type":"object","properties":{"a":{"type":"string","default":"${'x'.repeat(1000)}"}}}`,
      ),
      `"pattern":{"type":"string","pattern":"${'(a|b)'.repeat(2_000)}"}`,
    ]
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const { status, text } = await server.send('POST', path, definition(schema.join(',')))
    if (status !== 201) throw new Error(text)
  })

  test.each([
    [
      'branches',
      `"a":{"type":"string",${['allOf', 'anyOf', 'oneOf'].map(key => `"${key}":[${many(32_000, () => '{}')}]`).join(',')}}`,
    ],
    ['rules', `"a":{"type":"string","x-kubernetes-validations":[${many(12_000, () => '{"rule":"true"}')}]}`],
  ])('a definition with very many %s', { timeout: 60_000 }, async (_, properties) => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'
    const body = definition(properties).replaceAll('hostiles', 'branches')
    expect((await sendWithin(server, 'POST', path, body)).status).toBe(201)
  })

  test.each([
    ['that differ', 201, 12_000, (i: number) => `self != 'x${i}'`],
    ['with macros', 201, 5_000, (i: number) => `['a${i}'].all(x, [x].exists(y, y != self))`],
    ['with regular expressions', 201, 6_000, (i: number) => `self.matches('^(a|b)+x${i}$')`],
    ['that are wrong', 422, 12_000, (i: number) => `self >< ${i}`],
  ])('a definition with very many rules %s', { timeout: 60_000 }, async (_, status, count, rule) => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'
    const rules = many(count, i => `{"rule":"${rule(i)}"}`)
    const body = definition(`"a":{"type":"string","maxLength":5,"x-kubernetes-validations":[${rules}]}`)
    const answer = await sendWithin(server, 'POST', path, body.replaceAll('hostiles', 'rules'))
    expect(answer.status).toBe(status)
  })

  test('a definition with very many patterns', { timeout: 60_000 }, async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'
    const body = definition(many(10_000, i => `"p${i}":{"type":"string","pattern":"^(a${i}|b*)+[a-z]{1,50}$"}`))
    const { status } = await sendWithin(server, 'POST', path, body.replaceAll('hostiles', 'patterns'))
    expect(status).toBe(201)
  })

  test.each<[what: string, status: number, rest: string]>([
    ['a set', 201, `"set":[${many(190_000, i => `"a${i}"`)}]`],
    ['a map of items', 201, `"map":[${many(49_000, i => `{"a":"x${i}"}`)}]`],
    ['branches', 422, `"branches":[${many(100_000, () => '""')}]`],
    ['defaults', 413, `"defaults":[${many(DENSE / 3, () => '{}')}]`],
    ['a long pattern', 422, `"pattern":"${'ab'.repeat(25_000)}"`],
  ])('with %s', { timeout: 60_000 }, async (_, status, rest) => {
    const body = `{"apiVersion":"example.com/v1","kind":"Hostile",${object(rest).slice(1)}`
    expect((await sendWithin(server, 'POST', '/apis/example.com/v1/hostiles', body)).status).toBe(status)
  })
})

test('an update of a pod with very many tolerations', { timeout: 60_000 }, async () => {
  const tolerations = many(30_000, i => `{"key":"a${i}","operator":"Exists"}`)
  const body = `{"metadata":{"name":"tolerant"},"spec":{${CONTAINER},"tolerations":[${tolerations}]}}`
  expect((await server.send('POST', `${NAMESPACE}/pods`, body)).status).toBe(201)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patch = `{"metadata":{"labels":{"a":"b"}},"spec":{"tolerations":[${tolerations}]}}`
  expect((await sendWithin(server, 'PATCH', `${NAMESPACE}/pods/tolerant`, patch, headers)).status).toBe(200)
})

test('lines of YAML that repeat a key', { timeout: 60_000 }, async () => {
  const body = `metadata: {name: a}\n${'x: 1\n'.repeat(20_000)}`
  const headers = { 'content-type': 'application/yaml' }
  const path = `${NAMESPACE}/configmaps?fieldValidation=Strict`
  expect((await sendWithin(server, 'POST', path, body, headers)).status).toBe(400)
})

describe('patches of a large object', () => {
  const path = `${NAMESPACE}/configmaps/patched`
  const data = many(90_000, i => `"k${i}":"v"`)
  beforeAll(async () => {
    const { status } = await server.send(
      'POST',
      `${NAMESPACE}/configmaps`,
      `{"metadata":{"name":"patched"},"data":{${data}}}`,
    )
    if (status !== 201) throw new Error(`it was answered ${status}`)
  }, 60_000)

  test.each([
    ['json-patch+json', '[{"op":"replace","path":"/data/k0","value":"json"}]'],
    ['merge-patch+json', '{"data":{"k0":"merge"}}'],
    ['strategic-merge-patch+json', '{"data":{"k0":"strategic"}}'],
    ['apply-patch+yaml', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"data":{"k0":"apply"}}'],
  ])('%s', { timeout: 60_000 }, async (type, patch) => {
    const headers = { 'content-type': `application/${type}` }
    const at = type.startsWith('apply') ? `${path}?fieldManager=a&force=true` : path
    expect((await sendWithin(server, 'PATCH', at, patch, headers, data.length)).status).toBe(200)
  })
})

test.each([
  ['doubles a list', 413, 18, '/l/-'],
  ['copies a value very often', 422, 9_990, '/m'],
])('a patch that %s', { timeout: 60_000 }, async (_, status, count, to) => {
  const name = to.length === 2 ? 'copied' : 'doubled'
  const definition = {
    metadata: { name: `${name}s.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: `${name}s`, kind: name },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
  const path = `/apis/example.com/v1/${name}s`
  await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', JSON.stringify(definition))
  const l = Array.from({ length: 50 }, () => ({ a: 'b' }))
  const doubled = { apiVersion: 'example.com/v1', kind: name, metadata: { name: 'a' }, l: to === '/m' ? l : [1, {}] }
  expect((await server.send('POST', path, JSON.stringify(doubled))).status).toBe(201)
  const patch = JSON.stringify(Array.from({ length: count }, () => ({ op: 'copy', from: '/l', path: to })))
  const headers = { 'content-type': 'application/json-patch+json' }
  expect((await sendWithin(server, 'PATCH', `${path}/a`, patch, headers)).status).toBe(status)
})

test('a hundred patches of one large object all succeed', { timeout: 120_000 }, async () => {
  const data = many(3_000, i => `"k${i}":"v"`)
  await server.send('POST', `${NAMESPACE}/configmaps`, `{"metadata":{"name":"large"},"data":{${data}}}`)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patches = Array.from({ length: 100 }, (_, i) =>
    server.send('PATCH', `${NAMESPACE}/configmaps/large`, `{"data":{"k0":"${i}"}}`, headers),
  )
  const statuses = (await Promise.all(patches)).map(({ status }) => status)
  expect(statuses.filter(status => status !== 200)).toEqual([])
})

test('a configuration of very many keys that is applied twice', { timeout: 120_000 }, async () => {
  const path = `${NAMESPACE}/configmaps/applied?fieldManager=a`
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const data = many(30_000, i => `"k${i}":"v"`)
  const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{${data}}}`
  expect((await server.send('PATCH', path, body, headers)).status).toBe(201)
  expect((await sendWithin(server, 'PATCH', path, body, headers)).status).toBe(200)
})

test('patches may not make an object larger than a body may be', { timeout: 60_000 }, async () => {
  const path = `${NAMESPACE}/configmaps/growing`
  const headers = { 'content-type': 'application/merge-patch+json' }
  await server.send('POST', `${NAMESPACE}/configmaps`, '{"metadata":{"name":"growing"}}')
  const part = (from: number): string => `{"data":{${many(60_000, i => `"k${from + i}":""`)}}}`
  expect((await sendWithin(server, 'PATCH', path, part(0), headers)).status).toBe(200)
  expect((await sendWithin(server, 'PATCH', path, part(60_000), headers)).status).toBe(413)
})
