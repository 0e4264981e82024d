// A record of one server is replayed to another, or to the same after a reset.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Recording, readRecord, startBinnacle, type TestServer } from '../../src/testing/index.js'
import { encodeObject } from '../../src/types/protobuf.js'
import { builtinTypes } from '../../src/types/type-table.js'

let server: TestServer
let other: TestServer
const directory = mkdtempSync(join(tmpdir(), 'binnacle-replay-'))

beforeAll(async () => {
  ;[server, other] = await Promise.all([startBinnacle({ protocol: 'http' }), startBinnacle({ protocol: 'http' })])
})
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()])
  rmSync(directory, { recursive: true, force: true })
})

const json = { 'content-type': 'application/json' }
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gears.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gears', kind: 'Gear' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** What uses the values that a server chooses: uids, resourceVersions, names, tokens and addresses. */
async function work(on: TestServer): Promise<void> {
  const maps = on.client.resource('v1', 'ConfigMap').namespace('default')
  const watch = await maps.watch({ fieldSelector: { 'metadata.name': 'settings' } })
  const created = await maps.create({ metadata: { name: 'settings' }, data: { a: '1' } })
  await maps.update({ ...created, data: { a: '2' } })
  await expect(maps.update({ ...created, data: { a: '3' } })).rejects.toMatchObject({ code: 409 })
  const path = '/api/v1/namespaces/default/configmaps'
  const named = await on.fetch(path, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ metadata: { generateName: 'made-' } }),
  })
  const { metadata } = (await named.json()) as { metadata: { name: string; uid: string; resourceVersion: string } }
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid }
  await maps.create({ metadata: { name: 'owned', ownerReferences: [owner] } })
  const list = await maps.list({ limit: 1 })
  await maps.list({ limit: 1, continue: list.metadata.continue! })
  await on.fetch(`${path}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`)
  await on.apply(definition)
  await on.apply({ apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'one', namespace: 'default' } })
  await on.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  })
  const jane = on.users.create({ name: 'jane', groups: ['devs'] })
  await expect(jane.client.resource('v1', 'Secret').namespace('default').list()).rejects.toMatchObject({ code: 403 })
  await on.fetch('/api/v1/namespaces/default/configmaps/settings', {
    headers: { accept: 'application/vnd.kubernetes.protobuf, application/json' },
  })
  const sealed = encodeObject(builtinTypes(), { ...configMap('sealed'), apiVersion: 'v1', kind: 'ConfigMap' })!
  await on.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf', accept: 'application/vnd.kubernetes.protobuf' },
    body: sealed,
  })
  await maps.delete(metadata.name, { preconditions: { uid: metadata.uid } })
  await maps.delete('settings')
  const types: string[] = []
  for await (const { type } of watch) {
    types.push(type)
    if (type === 'DELETED') break
  }
  expect(types).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
  await on.waitFor(configMap('owned'), 'deleted')
  await on.fetch('/version')
}

let recording: Recording

test('a record is answered in the same way by another server, and by the same after a reset', async () => {
  server.snapshot('before')
  await server.apply(configMap('not-recorded'))
  await server.delete(configMap('not-recorded'))
  recording = server.record()
  await work(server)
  expect(recording.exchanges.some(({ path }) => path.includes('not-recorded'))).toBe(false)
  const elsewhere = await other.replay(recording)
  expect(elsewhere.report()).toBe(
    `${recording.exchanges.length} of ${recording.exchanges.length} requests were answered as in the record.`,
  )
  recording.stop()
  await server.reset('before')
  expect((await server.replay(recording)).differences).toEqual([])
  // The names of this time were used.
  const left = await server.client.resource('v1', 'ConfigMap').namespace('default').list()
  expect(left.items.map(({ metadata }) => metadata.name).filter(name => name.startsWith('made-'))).toEqual([])
})

test('a record is saved to a file and loaded from it', async () => {
  await other.reset()
  const short = other.record()
  await other.apply(configMap('saved', { a: '1' }))
  const file = join(directory, 'record')
  await short.save(file)
  expect(statSync(file).mode & 0o077).toBe(0)
  expect(await readRecord(file)).toEqual(short.exchanges)
  await other.reset()
  expect(await other.replay(file)).toMatchObject({ count: 1, differences: [] })
  expect((await other.get(configMap('saved')))['data']).toEqual({ a: '1' })
  writeFileSync(file, 'no record')
  await expect(other.replay(file)).rejects.toThrow('is not a record: write one with server.record().save(file)')
  writeFileSync(file, '"binnacle-record-1"\n{"method":1}\n')
  await expect(other.replay(file)).rejects.toThrow('is not a record')
})

test('answers that differ are reported in words', async () => {
  await other.reset()
  await other.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' } })
  const record = other.record()
  const watch = other.events('/api/v1/namespaces/default/configmaps')
  const first = watch.next()
  await other.apply(configMap('a', { size: '1' }))
  await other.get(configMap('a'))
  await expect(other.get(configMap('b'))).rejects.toMatchObject({ code: 404 })
  await first
  await watch.return(undefined)
  record.stop()
  await other.reset()
  const shared = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'default' } }
  await other.apply(shared)
  await other.apply({ ...configMap('a'), metadata: { ...configMap('a').metadata, labels: { team: 'x' } } })
  const { differences, report } = await other.replay(record, { timeoutMs: 100 })
  expect(differences.map(({ exchange }) => exchange.method)).toEqual(['GET', 'PATCH', 'GET'])
  expect(report()).toMatch(/^1 of 4 requests were answered as in the record; these were not:\n/)
  expect(report()).toMatch(
    /\n {2}2\. PATCH \/api\/v1\/namespaces\/default\/configmaps\/a\?\S+ {2}kubernetes-admin\n {4}status code: 201 → 200\n/,
  )
  expect(report()).toMatch(
    /\n {2}4\. GET \/api\/v1\/namespaces\/default\/configmaps\/b {2}kubernetes-admin\n {4}status code: 404 → 200\n {4}message: "configmaps \\"b\\" not found" → \(none\)/,
  )
  expect(report()).toContain('\n    events[0].type: "ADDED" → "MODIFIED"\n')
})

test('a request without an answer is sent, and not compared', async () => {
  await other.reset()
  other.faults.inject({ verb: 'patch', cut: 'after', times: 1 })
  const record = other.record()
  await expect(other.apply(configMap('cut'))).rejects.toThrow(/hang up|ECONNRESET|closed/)
  await other.get(configMap('cut'))
  record.stop()
  await other.reset()
  other.faults.clear()
  expect((await other.replay(record)).differences).toEqual([])
  await other.get(configMap('cut'))
})

test('a wrong option throws, with the right one named', async () => {
  const wrong = other.replay([], { timeout: 1 } as object)
  await expect(wrong).rejects.toThrow('a replay has no field timeout: did you mean timeoutMs?')
})
