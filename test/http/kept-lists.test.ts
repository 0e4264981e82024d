// Lists that are requested again and again are sent from kept items, in every format. The answer must be what a list at the
// same revision gives that is read from the store.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startBinnacle, type TestServer } from '../../src/testing/index.js'

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const METADATA = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const MAPS = '/api/v1/namespaces/default/configmaps'
const EVENTS = '/api/v1/namespaces/default/events'
const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets'
const NEW_DAY = '2030-01-01T00:00:00Z'

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Size', type: 'number', jsonPath: '.spec.size' },
          { name: 'Until', type: 'date', jsonPath: '.spec.until' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          { name: 'Older', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

let server: TestServer
beforeAll(async () => {
  server = await startBinnacle({ featureGates: { CBORServingAndStorage: true } })
  server.clock.freeze()
  await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
})
afterEach(deleteAll)
afterAll(() => server.stop())

async function deleteAll(): Promise<void> {
  for (const each of [MAPS, GADGETS, EVENTS]) await send('DELETE', each)
}

async function send(method: string, path: string, body?: object): Promise<void> {
  const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
  const answer = await server.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(await answer.text())
}

async function list(path: string, accept: string): Promise<Buffer> {
  const answer = await server.fetch(path, { headers: { accept } })
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

/** Asks often enough that the items are kept, and compares each answer with one that is read from the store. */
async function expectSame(path: string, accept: string): Promise<void> {
  for (let compared = 0; compared < 4; ) {
    const revision = server.resourceVersion()
    const answer = await list(path, accept)
    // Controllers write too.
    if (server.resourceVersion() !== revision) continue
    const exact = `resourceVersion=${revision}&resourceVersionMatch=Exact`
    const expected = await list(`${path}${path.includes('?') ? '&' : '?'}${exact}`, accept)
    expect(answer.toString()).toBe(expected.toString())
    expect(answer.equals(expected)).toBe(true)
    compared++
  }
}

const gadget = (name: string, spec: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata: { name, annotations: { text: 'é <b> 😀' } },
  spec,
})
const configMap = (name: string) => ({ metadata: { name }, data: { text: 'x'.repeat(3000), other: 'é' } })
const event = (name: string, lastTimestamp: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', name: 'a', namespace: 'default' },
  reason: 'Done',
  type: 'Normal',
  firstTimestamp: NEW_DAY,
  lastTimestamp,
})

describe.each([
  ['a Table', GADGETS, TABLE],
  ['a Table with whole objects', `${GADGETS}?includeObject=Object`, TABLE],
  ['a Table of cells only', `${GADGETS}?includeObject=None`, TABLE],
  ['a page of a Table', `${GADGETS}?limit=3`, TABLE],
  ['a Table of v1beta1', GADGETS, TABLE.replace('v=v1', 'v=v1beta1')],
  ['metadata', GADGETS, `application/json;${METADATA}`],
  ['metadata in protobuf', GADGETS, `application/vnd.kubernetes.protobuf;${METADATA}`],
  ['CBOR', GADGETS, 'application/cbor'],
  ['YAML', GADGETS, 'application/yaml'],
  ['a Table in YAML', GADGETS, TABLE.replace('json', 'yaml')],
  ['a Table of ConfigMaps', MAPS, TABLE],
  ['a Table of events', EVENTS, TABLE],
  ['protobuf', MAPS, 'application/vnd.kubernetes.protobuf'],
  ['a page in protobuf', `${MAPS}?limit=30`, 'application/vnd.kubernetes.protobuf'],
  ['metadata of ConfigMaps in protobuf', MAPS, `application/vnd.kubernetes.protobuf;${METADATA}`],
])('a list as %s', (_, path, accept) => {
  test('is kept, with every change and every age', async () => {
    await expectSame(path, accept)
    const specs = [{ size: 1 }, { size: 2.5 }, { size: 1e300 }, { until: NEW_DAY }, { size: -1, until: '2999-01-01' }]
    for (const [i, spec] of specs.entries()) {
      await send('POST', GADGETS, gadget(`g${i}`, spec))
      server.clock.advance('7s')
    }
    for (let i = 0; i < 50; i++) await send('POST', MAPS, configMap(`c${i}`))
    await send('POST', EVENTS, event('e0', NEW_DAY))
    await send('POST', EVENTS, event('e1', '2030-01-01T00:01:00Z'))
    await expectSame(path, accept)
    await send('PATCH', `${GADGETS}/g1`, { spec: { size: 3, until: NEW_DAY } })
    await send('PATCH', `${MAPS}/c7`, { data: { more: 'y' } })
    await send('PATCH', `${EVENTS}/e1`, { count: 3 })
    await expectSame(path, accept)
    for (const step of ['200ms', '50s', '9h']) {
      server.clock.advance(step)
      await expectSame(path, accept)
    }
    await send('DELETE', `${MAPS}/c8`)
    await send('DELETE', `${GADGETS}/g2`)
    await expectSame(path, accept)
    await deleteAll()
    await expectSame(path, accept)
  })
})
