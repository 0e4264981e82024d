// Feature gates that change responses, by their defaults and switched.
import { afterEach, expect, test } from 'vitest'
import { type Binnacle, type BinnacleOptions, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from './request.js'

let server: Binnacle | undefined

afterEach(() => server?.stop())

async function send(featureGates: NonNullable<BinnacleOptions['featureGates']>, path: string, options: object = {}) {
  server = await startBinnacle({ featureGates })
  return sendRequest(server, path, { token: server.token, ...options })
}

const CBOR = { accept: 'application/cbor' }
const PODS = '/api/v1/namespaces/default/pods'

test('CBOR is off by default: 406, a route that does not name it, and 415', async () => {
  const { status, body } = await send({}, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { headers: CBOR })
  expect({ status, body }).toMatchObject({ status: 406 })
  expect(JSON.stringify(body)).not.toContain('cbor')
  const type = { 'content-type': 'application/cbor' }
  const posted = await sendRequest(server!, PODS, { token: server!.token, method: 'POST', headers: type, body: {} })
  expect(posted.status).toBe(415)
  expect(posted.body.message).toBe(
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  )
})

test('CBOR is served when its gate is on', async () => {
  const { status, headers } = await send({ CBORServingAndStorage: true }, PODS, { headers: CBOR })
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/cbor' })
})

test('the option to delete what cannot be read is ignored by default', async () => {
  const option = 'ignoreStoreReadErrorWithClusterBreakingPotential'
  const path = `/api/v1/namespaces/default/configmaps/none?${option}=true&dryRun=All`
  const ignored = await send({}, path, { method: 'DELETE' })
  expect(ignored.status).toBe(404)
  await server!.stop()
  const checked = await send({ AllowUnsafeMalformedObjectDeletion: true }, path, { method: 'DELETE' })
  expect(checked.status).toBe(422)
})

test('a watch cannot begin with the existing objects without WatchList', async () => {
  const path = `${PODS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
  const { status, body } = await send({ WatchList: false }, path)
  expect(status).toBe(422)
  expect(body.message).toContain(
    'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  )
})

test('gates that are on by default can be switched off', async () => {
  const gates = {
    AuthorizePodWebsocketUpgradeCreatePermission: false,
    CRDObservedGenerationTracking: false,
    ClearingNominatedNodeNameAfterBinding: false,
    StorageVersionHash: false,
    WatchCacheInitializationPostStartHook: false,
  }
  const list = await send(gates, '/api/v1')
  expect(JSON.stringify(list.body)).not.toContain('storageVersionHash')
  const { token } = server!
  const call = (method: string, path: string, body?: object, more: object = {}) =>
    sendRequest(server!, path, { token, method, ...(body && { body }), ...more })
  expect((await call('GET', '/readyz?verbose')).text).not.toContain('storage-readiness')

  const merge = { headers: { 'content-type': 'application/merge-patch+json' } }
  const pod = {
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'default', containers: [{ name: 'c', image: 'i' }] },
  }
  expect((await call('POST', PODS, pod)).status).toBe(201)
  await call('PATCH', `${PODS}/p/status`, { status: { nominatedNodeName: 'n1' } }, merge)
  await call('POST', `${PODS}/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n2' } })
  const nominated = await call('PATCH', `${PODS}/p/status`, { status: { nominatedNodeName: 'n3' } }, merge)
  expect(nominated.body).toMatchObject({ spec: { nodeName: 'n2' }, status: { nominatedNodeName: 'n3' } })

  const names = { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const spec = { group: 'example.com', names, scope: 'Cluster', versions }
  await call('POST', definitions, { metadata: { name: 'ws.example.com' }, spec })
  const status = { observedGeneration: 7, storedVersions: ['v1'] }
  const written = await call('PATCH', `${definitions}/ws.example.com/status`, { status }, merge)
  expect(written.body.status).toHaveProperty('storedVersions')
  expect(written.body.status).not.toHaveProperty('observedGeneration')
})
