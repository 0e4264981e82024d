// Paths with a cluster-scoped resource in a namespace, or a namespaced one outside. The authorized and the executed
// request must not differ, so no such path may be served.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from './request.js'

let server: Binnacle
beforeAll(async () => {
  server = await startBinnacle({ tokens: { alice: { name: 'alice' } } })
})
afterAll(() => server.stop())

const asAdmin = (method: string, path: string, body?: unknown) =>
  sendRequest(server, path, {
    method,
    body,
    token: server.token,
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
  })

test('rights in one namespace do not reach another through such paths', async () => {
  for (const name of ['mine', 'theirs']) {
    await asAdmin('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'alice' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  }
  await asAdmin('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/mine/rolebindings', binding)
  const asAlice = async (method: string, path: string) =>
    (await sendRequest(server, path, { method, token: 'alice' })).status
  await expect.poll(() => asAlice('GET', '/api/v1/namespaces/mine')).toBe(200)
  expect(await asAlice('DELETE', '/api/v1/namespaces/theirs')).toBe(403)
  expect(await asAlice('DELETE', '/api/v1/namespaces/mine/namespaces/theirs')).toBe(404)
  expect(await asAlice('GET', '/api/v1/namespaces/mine/namespaces/theirs')).toBe(404)
  expect(await asAlice('GET', '/api/v1/namespaces/mine/namespaces')).toBe(404)
  expect((await asAdmin('GET', '/api/v1/namespaces/theirs')).body.status.phase).toBe('Active')
})

test('no resource is found at such a path', async () => {
  const groups = (await asAdmin('GET', '/apis')).body.groups as { versions: { groupVersion: string }[] }[]
  const roots = ['/api/v1', ...groups.flatMap(({ versions }) => versions.map(each => `/apis/${each.groupVersion}`))]
  const found: string[] = []
  let requests = 0
  for (const root of roots) {
    const { resources } = (await asAdmin('GET', root)).body as { resources: { name: string; namespaced: boolean }[] }
    for (const { name, namespaced } of resources) {
      const [resource, ...part] = name.split('/')
      // A namespaced collection is also served across all namespaces.
      const path = [namespaced ? root : `${root}/namespaces/default`, resource, 'kube-system', ...part].join('/')
      const collection = namespaced || part.length > 0 ? [] : [`${root}/namespaces/default/${resource}`]
      for (const misplaced of [path, ...collection]) {
        requests++
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
          const { status } = await asAdmin(method, misplaced, method.startsWith('P') ? {} : undefined)
          if (status !== 404) found.push(`${method} ${misplaced}: ${status}`)
        }
      }
    }
  }
  expect(found).toEqual([])
  expect(requests).toBeGreaterThan(100)
})
