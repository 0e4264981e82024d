// Server-side apply through the JavaScript client: several controllers that apply parts of a shared object.
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Status,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'

const namespace = 'default'
const AS_APPLY = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply)

let server: Binnacle
let config: KubeConfig
let core: CoreV1Api
beforeAll(async () => {
  server = await startBinnacle()
  config = new KubeConfig()
  config.loadFromString(server.kubeconfig)
  core = config.makeApiClient(CoreV1Api)
})
afterAll(() => server.stop())

const configuration = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

const apply = (name: string, fieldManager: string, data: Record<string, string>, force = false) =>
  core.patchNamespacedConfigMap({ name, namespace, fieldManager, force, body: configuration(name, data) }, AS_APPLY)

/** The part of an object that a manager has applied. */
function extract({ data = {}, metadata }: V1ConfigMap, manager: string): Record<string, string> {
  const entry = metadata?.managedFields?.find(each => each.manager === manager && each.operation === 'Apply')
  const fields = (entry?.fieldsV1 ?? {}) as Record<string, Record<string, object>>
  const names = Object.keys(fields['f:data'] ?? {}).map(name => name.slice(2))
  return Object.fromEntries(names.map(name => [name, data[name]!]))
}

test('a controller extracts its own applied configuration, without fields of other managers', async () => {
  await apply('shared', 'one', { a: '1', b: '1' })
  await apply('shared', 'two', { c: '2' })
  const read = await core.readNamespacedConfigMap({ name: 'shared', namespace })
  const mine = extract(read, 'one')
  expect(mine).toEqual({ a: '1', b: '1' })
  const { b: _, ...rest } = mine
  const applied = await apply('shared', 'one', { ...rest, d: '1' })
  expect(applied.data).toEqual({ a: '1', c: '2', d: '1' })
  expect(extract(applied, 'one')).toEqual({ a: '1', d: '1' })
  expect(extract(applied, 'two')).toEqual({ c: '2' })
})

test('a conflict names the manager and the field; force resolves it', async () => {
  await apply('disputed', 'one', { a: '1' })
  const error = await apply('disputed', 'two', { a: '2' }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiException)) throw new Error(`not refused: ${String(error)}`)
  expect(error.code).toBe(409)
  expect((JSON.parse(error.body as string) as V1Status).details?.causes).toEqual([
    { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
  ])
  const forced = await apply('disputed', 'two', { a: '2' }, true)
  expect(forced.data).toEqual({ a: '2' })
  expect(forced.metadata?.managedFields?.map(({ manager }) => manager)).toEqual(['two'])
})

test('concurrent applies of several controllers to one object all take effect', async () => {
  const managers = Array.from({ length: 20 }, (_, i) => `m-${i}`)
  await Promise.all(managers.map(manager => apply('crowded', manager, { [manager]: 'here' })))
  const { data, metadata } = await core.readNamespacedConfigMap({ name: 'crowded', namespace })
  expect(Object.keys(data ?? {}).toSorted()).toEqual(managers.toSorted())
  expect(metadata?.managedFields).toHaveLength(managers.length)
})

test('a status is applied through its subresource, the object through the other path', async () => {
  const apps = config.makeApiClient(AppsV1Api)
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }
  const at = { name: 'web', namespace }
  await apps.patchNamespacedDeployment({ ...at, fieldManager: 'author', body: deployment }, AS_APPLY)
  const { spec: _, ...bare } = deployment
  const status = { ...bare, status: { replicas: 2, readyReplicas: 1 } }
  const reported = await apps.patchNamespacedDeploymentStatus(
    { ...at, fieldManager: 'controller', body: status },
    AS_APPLY,
  )
  expect(reported.status).toMatchObject({ replicas: 2, readyReplicas: 1 })
  expect(reported.metadata?.managedFields?.map(({ manager, subresource }) => [manager, subresource])).toEqual([
    ['author', undefined],
    ['controller', 'status'],
  ])
})

test('objects of any kind are applied through the generic client', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config)
  const lease: KubernetesObject & { spec: object } = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'held', namespace },
    spec: { holderIdentity: 'me' },
  }
  const applied = await objects.patch(lease, undefined, undefined, 'holder', true, PatchStrategy.ServerSideApply)
  expect(applied).toMatchObject({ spec: { holderIdentity: 'me' } })
  expect(applied.metadata?.managedFields).toMatchObject([{ manager: 'holder', operation: 'Apply' }])
})
