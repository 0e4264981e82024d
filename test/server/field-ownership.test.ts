// Field ownership through the complete server: managers and their names, resets, scales, and versions that are added
// and removed.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ManagedFieldsEntry } from '../../src/meta/object/object-meta.js'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { type Response, sendRequest } from './request.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }

let server: Binnacle
beforeEach(async () => {
  server = await startBinnacle()
})
afterEach(() => server.stop())

const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  sendRequest(server, path, { method, body, headers, token: server.token })

const apply = (path: string, manager: string, body: object, force = false): Promise<Response> =>
  send('PATCH', `${path}?fieldManager=${manager}&force=${force}`, body, {
    'content-type': 'application/apply-patch+yaml',
  })

const configMap = (data: Record<string, string>, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
})

const entriesOf = ({ body }: Response): ManagedFieldsEntry[] => body.metadata.managedFields ?? []

/** `manager operation: the fields of data` for each entry. */
const owners = (answer: Response): string[] =>
  entriesOf(answer).map(({ manager, operation, fieldsV1 }) => {
    const data = (fieldsV1 as Record<string, object>)['f:data'] ?? {}
    const names = Object.keys(data).filter(name => name !== '.')
    return `${manager} ${operation}: ${names.map(name => name.slice(2)).join(' ')}`
  })

describe('an apply of a missing object', () => {
  test('creates it, with any resourceVersion', async () => {
    const made = await apply(`${CONFIGMAPS}/a`, 'm', configMap({ x: '1' }, { resourceVersion: '5' }))
    expect(made.status).toBe(201)
    expect(owners(made)).toEqual(['m Apply: x'])
  })

  test.each([{ uid: 'ghost' }, { uid: 'ghost', name: undefined }])('conflicts if it has a uid: %j', async metadata => {
    const refused = await apply(`${CONFIGMAPS}/a`, 'm', configMap({}, metadata))
    expect(refused.status).toBe(409)
    expect(refused.body.message).toBe(
      'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid ghost, and no existing object was found',
    )
  })

  test('on a subresource is not found before the body is decoded', async () => {
    const deployment = '/apis/apps/v1/namespaces/default/deployments/none'
    for (const part of ['status', 'scale']) {
      const missed = await apply(`${deployment}/${part}`, 'm', ['no configuration'])
      expect(missed.body).toMatchObject({ code: 404, message: 'deployments.apps "none" not found' })
    }
  })
})

describe('managers', () => {
  test('are named by the first part of the User-Agent by default', async () => {
    const byAgent = async (name: string, agent: string) => {
      const made = await send('POST', CONFIGMAPS, configMap({ x: '1' }, { name }), { 'user-agent': agent })
      return owners(made)
    }
    expect(await byAgent('a', 'my-controller/v1.2 (linux/amd64) kubernetes/abc')).toEqual(['my-controller Update: x'])
    expect(await byAgent('b', 'plain')).toEqual(['plain Update: x'])
    const named = await send('POST', `${CONFIGMAPS}?fieldManager=me`, configMap({ x: '1' }, { name: 'c' }))
    expect(owners(named)).toEqual(['me Update: x'])
  })

  test('of updates are limited to ten; the oldest are merged', async () => {
    await send('POST', `${CONFIGMAPS}?fieldManager=m-00`, configMap({ k00: '' }))
    let last: Response | undefined
    for (let i = 1; i < 14; i++) {
      const number = String(i).padStart(2, '0')
      last = await send('PATCH', `${CONFIGMAPS}/a?fieldManager=m-${number}`, { data: { [`k${number}`]: '' } }, MERGE)
    }
    const names = entriesOf(last!).map(({ manager }) => manager)
    expect(names).toHaveLength(10)
    expect(names).toContain('ancient-changes')
    expect(names).toContain('m-13')
    const owned = owners(last!).flatMap(text => text.split(': ')[1]!.split(' '))
    expect(owned.toSorted()).toEqual(Object.keys(last!.body.data).toSorted())
  })

  test('keep their time, and the object its version, if nothing changes', async () => {
    const made = await apply(`${CONFIGMAPS}/a`, 'm', configMap({ x: '1' }))
    for (const again of [
      await apply(`${CONFIGMAPS}/a`, 'm', configMap({ x: '1' })),
      await send('PATCH', `${CONFIGMAPS}/a`, { data: { x: '1' } }, MERGE),
      await send('PUT', `${CONFIGMAPS}/a`, configMap({ x: '1' })),
    ]) {
      expect(again.body).toEqual(made.body)
    }
  })

  test.each([
    ['an entry with nothing in it', [{}]],
    ['no entries', []],
  ])('are forgotten when a client sends %s, and the first apply finds an owner for what is there', async (_, none) => {
    await apply(`${CONFIGMAPS}/a`, 'm', configMap({ x: '1' }))
    const reset = await send('PATCH', `${CONFIGMAPS}/a`, { metadata: { managedFields: none } }, MERGE)
    expect(entriesOf(reset)).toEqual([])
    const changed = await send('PATCH', `${CONFIGMAPS}/a`, { data: { y: '2' } }, MERGE)
    expect(entriesOf(changed)).toEqual([])
    const conflict = await apply(`${CONFIGMAPS}/a`, 'm', configMap({ x: '3' }))
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x',
    )
    const forced = await apply(`${CONFIGMAPS}/a`, 'm', configMap({ x: '3' }), true)
    expect(owners(forced)).toEqual(['m Apply: x', 'before-first-apply Update: y'])
  })
})

describe('a scale', () => {
  const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/web'
  const deployment = (spec: object) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  })
  const scale = (replicas: number) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web' },
    spec: { replicas },
  })

  test('takes over the number of replicas; an apply without them keeps the number', async () => {
    await apply(DEPLOYMENT, 'me', deployment({ replicas: 1 }))
    await send('PATCH', `${DEPLOYMENT}/scale?fieldManager=hpa`, { spec: { replicas: 5 } }, MERGE)
    const conflict = await apply(DEPLOYMENT, 'me', deployment({ replicas: 1 }))
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas',
    )
    const without = await apply(DEPLOYMENT, 'me', deployment({}))
    expect(without.body.spec.replicas).toBe(5)
  })

  test('can be applied, and conflicts if another manager owns the number', async () => {
    await apply(DEPLOYMENT, 'me', deployment({ replicas: 1 }))
    const conflict = await apply(`${DEPLOYMENT}/scale`, 'hpa', scale(4))
    expect(conflict.body.message).toBe('Apply failed with 1 conflict: conflict with "me": .spec.replicas')
    const forced = await apply(`${DEPLOYMENT}/scale`, 'hpa', scale(4), true)
    expect(forced.body).toMatchObject({ kind: 'Scale', spec: { replicas: 4 } })
    expect(forced.body.metadata).not.toHaveProperty('managedFields')
    const refused = await apply(`${DEPLOYMENT}/scale`, 'hpa', scale(-1), true)
    expect(refused.body.message).toBe(
      'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    )
  })

  test('does not own its other fields', async () => {
    await apply(DEPLOYMENT, 'me', deployment({ replicas: 1 }))
    const { body: before } = await send('GET', DEPLOYMENT, undefined)
    await send('PATCH', `${DEPLOYMENT}/scale?fieldManager=x`, { metadata: { labels: { a: 'b' } } }, MERGE)
    expect((await send('GET', DEPLOYMENT, undefined)).body).toEqual(before)
  })

  test('that two clients write concurrently is written twice', async () => {
    await apply(DEPLOYMENT, 'me', deployment({ replicas: 1 }))
    const writers = Array.from({ length: 8 }, (_, i) =>
      send('PATCH', `${DEPLOYMENT}/scale`, { spec: { replicas: i + 2 } }, MERGE),
    )
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual(writers.map(() => 200))
  })
})

const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } }
const definition = (...versions: object[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions },
})
const v1 = { name: 'v1', served: true, storage: true, schema }
const beta = { name: 'v1beta1', served: true, storage: false, schema }
const at = (version: string) => `/apis/example.com/${version}/namespaces/default/things/a`
const thing = (version: string, fields: object, metadata: object = {}) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  ...fields,
})

describe('a removed version', () => {
  test('makes an apply fail while it has managers; any other write clears all managers', async () => {
    await send('POST', DEFINITION, definition(v1, beta))
    await apply(at('v1beta1'), 'old', thing('v1beta1', { a: '1' }))
    await apply(at('v1'), 'new', thing('v1', { b: '1' }))
    const { body } = await send('GET', `${DEFINITION}/things.example.com`, undefined)
    const removed = { ...body, spec: { ...body.spec, versions: [v1] } }
    expect((await send('PUT', `${DEFINITION}/things.example.com`, removed)).status).toBe(200)

    const refused = await apply(at('v1'), 'new', thing('v1', { b: '2' }))
    expect(refused.body).toMatchObject({
      code: 500,
      message: 'request to convert CR to an invalid group/version: example.com/v1beta1',
    })
    const patched = await send('PATCH', at('v1'), { b: '3' }, MERGE)
    expect(patched.body.b).toBe('3')
    expect(entriesOf(patched)).toEqual([])
    expect((await apply(at('v1'), 'new', thing('v1', { b: '3' }))).status).toBe(200)
  })
})

describe('a manager that continues in another version', () => {
  test.each([
    ['v1beta1', 'v1'],
    ['v1', 'v1beta1'],
  ])('from %s to %s keeps and gives up fields of the metadata as any others', async (from, to) => {
    await send('POST', DEFINITION, definition(v1, beta))
    const labels = { kept: '1', dropped: '1' }
    const metadata = { labels, annotations: { note: 'x' }, finalizers: ['example.com/held'] }
    expect((await apply(at(from), 'm', thing(from, { a: '1', b: '1' }, metadata))).status).toBe(201)
    const fewer = { labels: { kept: '1' }, finalizers: ['example.com/held'] }
    const next = await apply(at(to), 'm', thing(to, { a: '1' }, fewer))
    expect(next.status).toBe(200)
    expect(next.body).toMatchObject({ a: '1', metadata: { name: 'a', namespace: 'default', generation: 2, ...fewer } })
    expect(next.body.metadata.labels).toEqual({ kept: '1' })
    expect(next.body.metadata).not.toHaveProperty('annotations')
    expect(next.body).not.toHaveProperty('b')
    expect(entriesOf(next).map(({ apiVersion }) => apiVersion)).toEqual([`example.com/${to}`])
    const bare = await apply(at(from), 'm', thing(from, { a: '1' }))
    expect(bare.status).toBe(200)
    expect(Object.keys(bare.body.metadata).toSorted()).toEqual(
      ['creationTimestamp', 'generation', 'managedFields', 'name', 'namespace', 'resourceVersion', 'uid'].toSorted(),
    )
  })

  test('works beside others that own fields in the old one', async () => {
    await send('POST', DEFINITION, definition(v1, beta))
    await apply(at('v1beta1'), 'm', thing('v1beta1', { a: '1' }, { labels: { mine: '1' } }))
    await apply(at('v1beta1'), 'other', thing('v1beta1', { b: '1' }))
    const next = await apply(at('v1'), 'm', thing('v1', { a: '1' }))
    expect(next.body).toMatchObject({ a: '1', b: '1', metadata: { name: 'a' } })
    expect(next.body.metadata).not.toHaveProperty('labels')
  })
})

test('an apply to objects without a schema uses types deduced from their values', async () => {
  await server.stop()
  server = await startBinnacle({ runtimeConfig: { 'apiextensions.k8s.io/v1beta1': true } })
  const definitions = '/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions'
  const names = { kind: 'Old', plural: 'olds', singular: 'old', listKind: 'OldList' }
  const versions = [{ name: 'v1', served: true, storage: true }]
  const old = await send('POST', definitions, {
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'olds.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions, preserveUnknownFields: true },
  })
  expect(old.status).toBe(201)
  const path = '/apis/example.com/v1/namespaces/default/olds/a'
  const object = (spec: object) => ({ apiVersion: 'example.com/v1', kind: 'Old', metadata: { name: 'a' }, spec })
  expect((await apply(path, 'm', object({ a: 1, list: [1, 2], deep: { x: 1 } }))).status).toBe(201)
  const changed = await apply(path, 'n', object({ deep: { y: 2 } }))
  expect(changed.status).toBe(200)
  expect(changed.body.spec).toEqual({ a: 1, list: [1, 2], deep: { x: 1, y: 2 } })
  expect((await apply(path, 'm', object({ list: [3] }))).body.spec).toEqual({ list: [3], deep: { y: 2 } })
})
