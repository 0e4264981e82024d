// Workloads that live, as a test uses them: the server in this process, its clock and its pods.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBinnacle, type TestServer } from '../../src/testing/index.js'

let server: TestServer
beforeAll(async () => {
  server = await startBinnacle({ protocol: 'http', workloads: { nodes: 2 } })
})
afterAll(() => server.stop())

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const isAvailable = (count: number) => (object: object) =>
  ((object as { status?: { availableReplicas?: number } }).status?.availableReplicas ?? 0) === count

test('a Deployment becomes available, loses a pod and gets another', async () => {
  await server.apply(deployment)
  await server.waitFor(deployment, isAvailable(2))
  const pods = (await (await server.fetch('/api/v1/namespaces/default/pods')).json()) as {
    items: { metadata: { name: string }; spec: { nodeName: string } }[]
  }
  expect(pods.items.map(({ spec }) => spec.nodeName).toSorted()).toEqual(['node-1', 'node-2'])
  await server.pods.setReady(pods.items[0]!.metadata.name, false)
  await server.waitFor(deployment, isAvailable(1))
  await server.pods.evict(pods.items[0]!.metadata.name)
  await server.waitFor(deployment, isAvailable(2))
  await server.delete(deployment)
  await server.waitFor({ apiVersion: 'v1', kind: 'Pod', metadata: { name: pods.items[1]!.metadata.name } }, 'deleted')
})

test('a misspelt field of a request to pods throws, with the right one named', async () => {
  await expect(server.pods.fail('p', { exitcode: 137 } as object)).rejects.toThrow('did you mean exitCode?')
  await expect(server.pods.complete({ label: 'app=web' } as object)).rejects.toThrow('did you mean labels?')
})

test('a server without workloads says how to have them', async () => {
  const plain = await startBinnacle({ protocol: 'http' })
  await expect(plain.pods.complete('p')).rejects.toThrow('start the server with the option workloads')
  await plain.stop()
  await expect(startBinnacle({ workloads: { node: {}, redyAfter: '1s' } as object })).rejects.toThrow(
    'workloads: there is no redyAfter',
  )
  await expect(startBinnacle({ workloads: { node: { cpus: '4' } as object } })).rejects.toThrow(
    'workloads.node has no field cpus: did you mean cpu?',
  )
})
