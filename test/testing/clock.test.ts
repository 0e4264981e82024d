// What follows the clock of a test server: nothing here waits for time to pass.
import { createPublicKey, sign } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificate } from '../../src/server/tls/x509.js'
import { type KubernetesObject, startBinnacle, type TestServer } from '../../src/testing/index.js'

let server: TestServer

beforeAll(async () => {
  server = await startBinnacle({
    protocol: 'http',
    runtimeConfig: { 'certificates.k8s.io/v1beta1': true, 'resource.k8s.io/v1beta2': true },
    featureGates: { PodCertificateRequest: true, DRADeviceTaintRules: true },
  })
  server.clock.freeze()
})
afterAll(() => server.stop())

const metadata = (name: string) => ({ name, namespace: 'default' })
const container = { name: 'c', image: 'i' }

async function post(path: string, object: object): Promise<KubernetesObject> {
  const headers = { 'content-type': 'application/json' }
  const response = await server.fetch(path, { method: 'POST', headers, body: JSON.stringify(object) })
  expect(response.status).toBe(201)
  return (await response.json()) as KubernetesObject
}

test('an Event lives as long as --event-ttl says', async () => {
  const event = { apiVersion: 'v1', kind: 'Event', metadata: metadata('e'), involvedObject: { namespace: 'default' } }
  await server.apply(event)
  server.clock.advance('59m')
  await server.get(event)
  const gone = server.waitFor(event, 'deleted')
  server.clock.advance('2m')
  await gone
  await expect(server.get(event)).rejects.toMatchObject({ code: 404 })
})

test('a finished Job lives as long as its ttlSecondsAfterFinished says', async () => {
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: metadata('j') }
  const template = { spec: { restartPolicy: 'Never', containers: [container] } }
  await server.apply({ ...job, spec: { ttlSecondsAfterFinished: 3600, template } })
  const lastTransitionTime = new Date(server.clock.now()).toISOString().replace(/\.\d+/, '')
  const conditions = ['SuccessCriteriaMet', 'Complete'].map(type => ({ type, status: 'True', lastTransitionTime }))
  const times = { startTime: lastTransitionTime, completionTime: lastTransitionTime }
  const finished = await server.fetch('/apis/batch/v1/namespaces/default/jobs/j/status', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ status: { conditions, ...times } }),
  })
  expect(finished.status).toBe(200)
  const gone = server.waitFor(job, 'deleted')
  server.clock.advance('61m')
  await gone
  await expect(server.get(job)).rejects.toMatchObject({ code: 404 })
})

test('a dependent of an owner that never was is collected after a delay', async () => {
  const dependent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('dependent') }
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }
  await server.apply({ ...dependent, metadata: { ...dependent.metadata, ownerReferences: [owner] } })
  const gone = server.waitFor(dependent, 'deleted')
  server.clock.advance('1s')
  await gone
  await expect(server.get(dependent)).rejects.toMatchObject({ code: 404 })
})

test('a namespace is gone when the grace period of its last pod has passed', async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ends' } }
  await server.apply(namespace)
  const accounts = '/api/v1/namespaces/ends/serviceaccounts'
  await server.waitFor(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'ends' } },
    'exists',
  )
  expect((await server.fetch(accounts)).status).toBe(200)
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'ends' } }
  await server.apply({ ...pod, spec: { nodeName: 'n', containers: [container] } })
  await server.delete(namespace)
  await server.waitFor(pod, ({ metadata: { deletionTimestamp } }) => deletionTimestamp !== undefined)
  await server.waitFor(namespace, 'NamespaceContentRemaining')
  const gone = server.waitFor(namespace, 'deleted')
  server.clock.advance('31s')
  await gone
  await expect(server.get(namespace)).rejects.toMatchObject({ code: 404 })
})

test('a definition is gone with its last object, also while the clock stands', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com' },
  }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
  const names = { plural: 'gears', kind: 'Gear' }
  await server.apply({ ...definition, spec: { group: 'example.com', scope: 'Cluster', names, versions: [version] } })
  const gear = { apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'held' } }
  await server.apply({ ...gear, metadata: { name: 'held', finalizers: ['example.com/hold'] } })
  await server.delete(definition)
  await server.waitFor(gear, ({ metadata: { deletionTimestamp } }) => deletionTimestamp !== undefined)
  // The controller has found the object that is held, and waits.
  await server.waitFor(definition, 'Terminating')
  await server.apply(gear)
  await server.waitFor(definition, 'deleted')
  await expect(server.get(definition)).rejects.toMatchObject({ code: 404 })
})

test('a device taint without a time was added at the time of the clock', async () => {
  server.clock.advance('1d')
  const time = new Date(server.clock.now()).toISOString().replace(/\.\d+/, '')
  const taint = { key: 'example.com/slow', effect: 'NoSchedule' }
  const rule = { apiVersion: 'resource.k8s.io/v1beta2', kind: 'DeviceTaintRule', metadata: { name: 'r' } }
  const [applied] = await server.apply({ ...rule, spec: { taint } })
  expect(applied!['spec']).toEqual({ taint: { ...taint, timeAdded: time } })
  const created = await post('/apis/resource.k8s.io/v1beta2/devicetaintrules', {
    metadata: { name: 'created' },
    spec: { taint },
  })
  expect(created['spec']).toEqual({ taint: { ...taint, timeAdded: time } })
})

test('a certificate for a pod begins at the time of the clock', async () => {
  server.clock.advance('1d')
  const begin = new Date(Math.floor(server.clock.now() / 1000) * 1000)
  const end = new Date(begin.getTime() + 3_600_000)
  const { cert, key } = await makeCertificate({
    subject: { name: 'pod' },
    validity: { from: begin, to: end },
    use: 'client',
  })
  const path = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests'
  await post(path, {
    metadata: { name: 'requested' },
    spec: {
      signerName: 'example.com/signer',
      podName: 'p',
      podUID: 'uid',
      serviceAccountName: 'default',
      serviceAccountUID: 'uid',
      nodeName: 'n',
      nodeUID: 'uid',
      maxExpirationSeconds: 86_400,
      pkixPublicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64'),
      proofOfPossession: sign('sha256', Buffer.from('uid'), key).toString('base64'),
    },
  })
  const print = (date: Date): string => date.toISOString().replace(/\.\d+/, '')
  const status = {
    conditions: [{ type: 'Issued', status: 'True', reason: 'Issued', message: '', lastTransitionTime: print(begin) }],
    certificateChain: cert,
    notBefore: print(begin),
    notAfter: print(end),
    beginRefreshAt: print(new Date(begin.getTime() + 1_800_000)),
  }
  const issued = await server.fetch(`${path}/requested/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ status }),
  })
  expect([issued.status, issued.status === 200 ? '' : await issued.text()]).toEqual([200, ''])
})

test('a token expires', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts'
  await post(path, { metadata: { name: 'holder' } })
  const request = await post(`${path}/holder/token`, { spec: { audiences: [], expirationSeconds: 600 } })
  const { token } = request['status'] as { token: string }
  const whoAmI = async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    return (await server.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', { method: 'POST', headers, body }))
      .status
  }
  expect(await whoAmI()).toBe(201)
  server.clock.advance('15m')
  expect(await whoAmI()).toBe(401)
})

test('history is forgotten after five minutes of the clock, as without a test', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('history') }
  const [written] = await server.apply([configMap, { ...configMap, metadata: metadata('other') }])
  const old = written!.metadata.resourceVersion
  const page = (await (await server.fetch(`${path}?limit=1`)).json()) as { metadata: { continue: string } }
  await server.apply({ ...configMap, data: { a: '1' } })
  const asOfOld = async (): Promise<number> =>
    (await server.fetch(`${path}?resourceVersion=${old}&resourceVersionMatch=Exact`)).status
  server.clock.advance('4m')
  expect(await asOfOld()).toBe(200)
  server.clock.advance('1h')
  expect(await asOfOld()).toBe(410)
  const next = await server.fetch(`${path}?limit=1&continue=${encodeURIComponent(page.metadata.continue)}`)
  expect(next.status).toBe(410)
})
