// `server.client` on a running server. test/package/types.test.ts checks its types.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBinnacle, type TestServer } from '../../src/testing/index.js'

let server: TestServer
beforeAll(async () => {
  server = await startBinnacle({ protocol: 'http' })
  await server.apply({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { size: { type: 'integer', maximum: 10 } } },
                status: { type: 'object', properties: { size: { type: 'integer' } } },
              },
            },
          },
        },
      ],
    },
  })
})
afterAll(() => server.stop())

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
}

describe('verbs', () => {
  test('create, get, update, list and delete an object of a namespace', async () => {
    await server.client.resource('v1', 'Namespace').create({ metadata: { name: 'verbs' } })
    const maps = server.client.resource('v1', 'ConfigMap').namespace('verbs')
    const created = await maps.create({ metadata: { name: 'a', labels: { app: 'web' } }, data: { key: '1' } })
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'verbs' } })
    await maps.update({ ...created, data: { key: '2' } })
    await maps.create({ metadata: { generateName: 'b-' } })
    expect((await maps.get('a'))['data']).toEqual({ key: '2' })
    expect((await maps.list({ labelSelector: { app: 'web' } })).items).toMatchObject([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    ])
    expect((await maps.list({ limit: 1 })).metadata.remainingItemCount).toBeGreaterThan(0)
    expect(await maps.delete('a', { preconditions: { uid: created.metadata.uid } })).toMatchObject({
      status: 'Success',
    })
    expect(await maps.deleteCollection({ labelSelector: '!app' })).toMatchObject({ kind: expect.any(String) })
    expect((await maps.list({ fieldSelector: { 'metadata.name': 'a' } })).items).toEqual([])
  })

  test('single objects without a namespace are those of `default`, or of the namespace that the object names', async () => {
    const maps = server.client.resource('v1', 'ConfigMap')
    await maps.create({ metadata: { name: 'here' } })
    expect((await maps.get('here')).metadata.namespace).toBe('default')
    await maps.create({ metadata: { name: 'there', namespace: 'kube-system' } })
    const all = (await maps.list()).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    expect(all).toEqual(expect.arrayContaining(['default/here', 'kube-system/there']))
  })

  test('the three patches, and apply with a field manager', async () => {
    const deployments = server.client.resource('apps/v1', 'Deployment')
    const spec = { selector: { matchLabels: { app: 'web' } }, template }
    await deployments.create({ metadata: { name: 'web' }, spec })
    await deployments.patch('web', { spec: { replicas: 2 } })
    await deployments.patch('web', [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }])
    const container = { name: 'web', imagePullPolicy: 'Always' }
    const patched = await deployments.patch(
      'web',
      { spec: { template: { spec: { containers: [container] } } } },
      { type: 'strategic', fieldManager: 'third' },
    )
    expect(patched).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { replicas: 2, template: { spec: { containers: [{ ...container, image: 'web:1' }] } } },
    })
    const wanted = { metadata: { name: 'web' }, spec: { ...spec, replicas: 5 } }
    await expect(deployments.apply(wanted, { fieldManager: 'me' })).rejects.toMatchObject({
      reason: 'Conflict',
      code: 409,
    })
    const applied = await deployments.apply(wanted, { fieldManager: 'me', force: true, dryRun: true })
    expect(applied['spec'].replicas).toBe(5)
    expect((await deployments.get('web'))['spec'].replicas).toBe(2)
  })

  test('objects of the cluster, and reviews without metadata', async () => {
    const jane = server.users.create({ name: 'jane' })
    const review = await jane.client.resource('authentication.k8s.io/v1', 'SelfSubjectReview').create({} as never)
    expect(review['status'].userInfo.username).toBe('jane')
    await expect(jane.client.resource('v1', 'Node').list()).rejects.toMatchObject({
      name: 'StatusError',
      code: 403,
      reason: 'Forbidden',
      status: { kind: 'Status', details: { kind: 'nodes' } },
    })
  })
})

test('a watch is open when it is returned, and ends with the loop, `stop` or a signal', async () => {
  const widgets = server.client.resource('example.com/v1', 'Widget').namespace('default')
  const { resourceVersion } = (await widgets.list()).metadata
  const watch = await widgets.watch({ resourceVersion })
  await widgets.create({ metadata: { name: 'seen' } })
  await widgets.delete('seen')
  const seen: string[] = []
  for await (const { type, object } of watch) {
    seen.push(`${type} ${object.metadata.name}`)
    if (type === 'DELETED') break
  }
  expect(seen).toEqual(['ADDED seen', 'DELETED seen'])
  expect(await watch.next()).toEqual({ done: true, value: undefined })

  const other = await widgets.watch()
  await other.stop()
  expect(await other.next()).toEqual({ done: true, value: undefined })

  const abort = new AbortController()
  const third = await widgets.watch({ resourceVersion, signal: abort.signal, labelSelector: { none: 'such' } })
  const next = third.next()
  abort.abort()
  expect(await next).toEqual({ done: true, value: undefined })

  await server.compactHistory()
  const expired = await widgets.watch({ resourceVersion })
  await expect(expired.next()).rejects.toMatchObject({ code: 410, reason: 'Expired' })
})

describe('subresources', () => {
  test('status and scale of a custom kind', async () => {
    const widgets = server.client.resource('example.com/v1', 'Widget').namespace('default')
    const widget = await widgets.create({ metadata: { name: 'scaled' }, spec: { size: 1 } })
    await widgets.subresource('status').update({ ...widget, status: { size: 1 } })
    await widgets.subresource('scale').patch('scaled', { spec: { replicas: 4 } })
    expect(await widgets.subresource('scale').get('scaled')).toMatchObject({
      spec: { replicas: 4 },
      status: { replicas: 1 },
    })
    expect(await widgets.waitFor('scaled', object => object['spec'].size === 4)).toMatchObject({ status: { size: 1 } })
    await expect(
      widgets.subresource('scale').update({ metadata: { name: 'scaled' }, spec: { replicas: 11 } }),
    ).rejects.toThrow('should be less than or equal to 10')
  })

  test('eviction, token and binding have kinds of their own', async () => {
    const pods = server.client.resource('v1', 'Pod').namespace('default')
    await server.client.resource('v1', 'Node').create({ metadata: { name: 'n' } })
    await pods.create({ metadata: { name: 'p' }, spec: template.spec })
    await pods.subresource('binding').create('p', { target: { kind: 'Node', name: 'n' } })
    expect((await pods.get('p'))['spec'].nodeName).toBe('n')
    await pods.subresource('eviction').create('p')
    expect((await pods.get('p')).metadata['deletionTimestamp']).toEqual(expect.any(String))
    const accounts = server.client.resource('v1', 'ServiceAccount').namespace('default')
    const { status } = await accounts.subresource('token').create('default', { spec: { audiences: ['me'] } })
    expect(status.token).toMatch(/^ey/)
  })
})

describe('what cannot be', () => {
  test.each([
    ['an unknown kind', () => server.client.resource('v1', 'Nothing').list(), 'the server has no kind Nothing in v1'],
    ['an apiVersion of no form', () => server.client.resource('a/b/c', 'Pod').list(), 'apiVersion: "a/b/c"'],
    [
      'a namespace where there is none',
      () => server.client.resource('v1', 'Node').namespace('a').get('n'),
      'objects of kind Node are in no namespace: leave out namespace("a")',
    ],
    [
      'deleting in all namespaces',
      () => server.client.resource('v1', 'Pod').deleteCollection(),
      'within one namespace',
    ],
  ])('%s', async (_, call, message) => {
    await expect(call()).rejects.toThrow(message)
  })
})
