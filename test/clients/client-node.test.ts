// The official JavaScript client against a server in the same process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Status,
  Watch,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'

const directory = mkdtempSync(join(tmpdir(), 'binnacle-client-node-'))
let server: Binnacle
let config: KubeConfig
let core: CoreV1Api
beforeAll(async () => {
  server = await startBinnacle({ storage: { folder: directory }, controllers: ['garbage-collector-controller'] })
  config = new KubeConfig()
  config.loadFromString(server.kubeconfig)
  core = config.makeApiClient(CoreV1Api)
})
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true })
})

const newNamespace = async (name: string): Promise<string> => {
  await core.createNamespace({ body: { metadata: { name } } })
  return name
}
const configMap = (name: string, data: Record<string, string> = {}, labels = {}): V1ConfigMap => ({
  metadata: { name, labels },
  data,
})
const nameOf = ({ metadata }: { metadata?: { name?: string } }): string => metadata?.name ?? ''

/** The Status of a refused request. */
async function refusal(request: Promise<unknown>): Promise<{ code: number; status: V1Status }> {
  const error: unknown = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiException)) throw new Error(`not refused: ${String(error)}`)
  return { code: error.code, status: JSON.parse(error.body as string) as V1Status }
}

test('create, read, replace, patch the status, delete', async () => {
  const namespace = await newNamespace('crud')
  const apps = config.makeApiClient(AppsV1Api)
  const labels = { app: 'web' }
  const created = await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    },
  })
  expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date)
  expect(created.spec?.strategy?.type).toBe('RollingUpdate')
  const web = { name: 'web', namespace }
  expect(await apps.readNamespacedDeployment(web)).toEqual(created)

  created.spec!.replicas = 3
  const replaced = await apps.replaceNamespacedDeployment({ ...web, body: created })
  expect(replaced.metadata?.generation).toBe(2)
  const stale = await refusal(apps.replaceNamespacedDeployment({ ...web, body: created }))
  expect(stale).toMatchObject({
    code: 409,
    status: { reason: 'Conflict', details: { name: 'web', kind: 'deployments' } },
  })

  const scale = await apps.readNamespacedDeploymentScale(web)
  scale.spec = { replicas: 7 }
  await apps.replaceNamespacedDeploymentScale({ ...web, body: scale })
  const status = await apps.patchNamespacedDeploymentStatus(
    { ...web, body: { status: { observedGeneration: 3 } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  )
  expect([status.spec?.replicas, status.status?.observedGeneration]).toEqual([7, 3])

  expect(await apps.deleteNamespacedDeployment(web)).toMatchObject({ status: 'Success' })
  expect(await refusal(apps.readNamespacedDeployment(web))).toMatchObject({
    code: 404,
    status: { kind: 'Status', reason: 'NotFound', message: 'deployments.apps "web" not found' },
  })
})

test('a list continues where its last page ended', async () => {
  const namespace = await newNamespace('pages')
  const names = Array.from({ length: 25 }, (_, i) => `page-${String(i).padStart(2, '0')}`)
  await Promise.all(names.map(name => core.createNamespacedConfigMap({ namespace, body: configMap(name) })))
  const seen: string[] = []
  const versions = new Set<string | undefined>()
  let next: string | undefined
  do {
    const page = await core.listNamespacedConfigMap({ namespace, limit: 10, ...(next && { _continue: next }) })
    seen.push(...page.items.map(nameOf))
    versions.add(page.metadata?.resourceVersion)
    next = page.metadata?.['_continue']
    // Objects created between pages are not in the list.
    await core.createNamespacedConfigMap({ namespace, body: configMap(`page-99-${seen.length}`) })
  } while (next)
  expect(seen).toEqual(names)
  expect(versions.size).toBe(1)
})

test('selectors', async () => {
  const namespace = await newNamespace('selectors')
  for (const [name, tier] of [
    ['a', 'front'],
    ['b', 'back'],
    ['c', 'front'],
  ] as const) {
    await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}, { tier }) })
  }
  const names = async (selectors: { labelSelector?: string; fieldSelector?: string }) =>
    (await core.listNamespacedConfigMap({ namespace, ...selectors })).items.map(nameOf)
  expect(await names({ labelSelector: 'tier in (front)' })).toEqual(['a', 'c'])
  expect(await names({ fieldSelector: 'metadata.name=b' })).toEqual(['b'])
  expect(await names({ labelSelector: 'tier=front', fieldSelector: 'metadata.name!=a' })).toEqual(['c'])
  const all = (await core.listConfigMapForAllNamespaces({ labelSelector: 'tier=back' })).items
  expect(all.map(({ metadata }) => metadata?.namespace)).toEqual([namespace])
  expect(await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'tier=front' })).toBeDefined()
  expect(await names({})).toEqual(['b'])
})

describe('patches', () => {
  test.each([
    [PatchStrategy.JsonPatch, [{ op: 'replace', path: '/data/a', value: 'new' }], { a: 'new', b: 'kept' }],
    [PatchStrategy.MergePatch, { data: { a: null, c: 'new' } }, { b: 'kept', c: 'new' }],
    [PatchStrategy.StrategicMergePatch, { data: { a: 'new' } }, { a: 'new', b: 'kept' }],
  ])('%s', async (type, body, data) => {
    const namespace = await newNamespace(`patch-${type.split(/[/+]/)[1]}`)
    await core.createNamespacedConfigMap({ namespace, body: configMap('patched', { a: 'old', b: 'kept' }) })
    const patched = await core.patchNamespacedConfigMap(
      { name: 'patched', namespace, body },
      setHeaderOptions('Content-Type', type),
    )
    expect(patched.data).toEqual(data)
  })
})

test('concurrent writers without a resourceVersion never conflict', async () => {
  const namespace = await newNamespace('crowd')
  const at = { name: 'crowded', namespace }
  await core.createNamespacedConfigMap({ namespace, body: configMap('crowded') })
  const writers = Array.from({ length: 50 }, (_, i) => `w-${i}`)
  await Promise.all(writers.map(w => core.replaceNamespacedConfigMap({ ...at, body: configMap('crowded', { w }) })))
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
  await Promise.all(
    writers.map(w => core.patchNamespacedConfigMap({ ...at, body: { data: { [w]: 'was here' } } }, merge)),
  )
  const { data = {} } = await core.readNamespacedConfigMap(at)
  expect(Object.keys(data)).toEqual(expect.arrayContaining(writers))
})

test('errors are a Status with reason, field and message', async () => {
  const namespace = await newNamespace('errors')
  const create = (body: V1ConfigMap, extra = {}) =>
    refusal(core.createNamespacedConfigMap({ namespace, body, ...extra }))
  expect(await create(configMap('Not A Name'))).toMatchObject({
    code: 422,
    status: {
      reason: 'Invalid',
      details: { kind: 'ConfigMap', causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
    },
  })
  await core.createNamespacedConfigMap({ namespace, body: configMap('there') })
  expect(await create(configMap('there'))).toMatchObject({ code: 409, status: { reason: 'AlreadyExists' } })
  const elsewhere = core.createNamespacedConfigMap({ namespace: 'nowhere', body: configMap('lost') })
  expect(await refusal(elsewhere)).toMatchObject({ code: 404, status: { message: 'namespaces "nowhere" not found' } })
  const anonymous = new KubeConfig()
  anonymous.loadFromString(server.kubeconfig)
  anonymous.users = [{ name: anonymous.users[0]!.name }]
  expect(await refusal(anonymous.makeApiClient(CoreV1Api).listNode())).toMatchObject({
    code: 403,
    status: { reason: 'Forbidden', details: { kind: 'nodes' } },
  })
})

test('objects of any kind work with the generic client', async () => {
  const namespace = await newNamespace('objects')
  const objects = KubernetesObjectApi.makeApiClient(config)
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'held', namespace } }
  await objects.create({ ...lease, spec: { holderIdentity: 'me' } } as typeof lease)
  const patch = { ...lease, spec: { leaseDurationSeconds: 15 } }
  const patched = await objects.patch(patch, undefined, undefined, undefined, undefined, PatchStrategy.MergePatch)
  expect(patched).toMatchObject({ spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } })
  const listed = await objects.list('coordination.k8s.io/v1', 'Lease', namespace)
  expect(listed.items.map(nameOf)).toEqual(['held'])
  await objects.delete(lease)
  expect(await refusal(objects.read(lease))).toMatchObject({ code: 404 })
})

describe('watch', () => {
  type Event = readonly [type: string, name: string, version: string]

  /** Watches until this many events were received, or the server ends the watch. */
  async function watched(path: string, query: Record<string, string | boolean>, count: number): Promise<Event[]> {
    const events: Event[] = []
    await new Promise<void>((resolve, reject) => {
      let stop = (): void => {}
      new Watch(config)
        .watch(
          path,
          query,
          (type, object) => {
            events.push([type, object.metadata?.name ?? object.reason, object.metadata?.resourceVersion])
            if (events.length === count) stop()
          },
          (error: Error | null) => (error && error.name !== 'AbortError' ? reject(error) : resolve()),
        )
        .then(controller => {
          stop = () => controller.abort()
          if (events.length >= count) stop()
        }, reject)
    })
    return events.slice(0, count)
  }

  test('resumes from any seen version, without missing or repeated events', async () => {
    const namespace = await newNamespace('watch')
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const { metadata } = await core.listNamespacedConfigMap({ namespace })
    const expected: Event[] = []
    for (let i = 0; i < 10; i++) {
      const { metadata: written } = await core.createNamespacedConfigMap({ namespace, body: configMap(`c-${i}`) })
      expected.push(['ADDED', `c-${i}`, written!.resourceVersion!])
    }
    const all = await watched(path, { resourceVersion: metadata!.resourceVersion! }, 10)
    expect(all).toEqual(expected)
    for (const [i, [, , resourceVersion]] of all.slice(0, -1).entries()) {
      expect(await watched(path, { resourceVersion }, 9 - i)).toEqual(expected.slice(i + 1))
    }
  })

  test('ends after its timeout, with a bookmark of its position', async () => {
    const namespace = await newNamespace('bookmarks')
    const body = configMap('first')
    const { metadata } = await core.createNamespacedConfigMap({ namespace, body })
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const events = await watched(path, { ...query, timeoutSeconds: '1' }, 100)
    expect(events.slice(0, 2)).toEqual([
      ['ADDED', 'first', metadata!.resourceVersion],
      ['BOOKMARK', undefined, expect.stringMatching(/^\d+$/)],
    ])
  })
})
