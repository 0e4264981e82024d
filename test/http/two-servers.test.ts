// Two servers in one process with the same kinds and different stores. They write the same keys at the same revisions, so
// that whatever is kept by key and revision outside of a server would show the objects of the other one.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { customKind } from '../../src/crd/custom-kind.js'
import { NO_NAMES, withRightStatus } from '../../src/crd/definition-status.js'
import { widgetDefinition } from '../../src/crd/definitions.suite.js'
import { builtinTypes } from '../../src/types/type-table.js'
import { type ApiFixture, type Client, http2Client, linesOf, startApi } from './api-fixture.js'

const at = (version: string) => `/apis/example.com/${version}/namespaces/default/widgets`
const properties = {
  spec: { type: 'object', properties: { owner: { type: 'string' }, size: { type: 'integer', default: 1 } } },
}
const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', properties } },
})
const definition = widgetDefinition({ versions: [version('v1'), version('v2')] })
const KIND = customKind(builtinTypes(), withRightStatus(definition, NO_NAMES, 0))!

interface Running {
  readonly api: ApiFixture
  readonly client: Client
}

let left: Running
let right: Running
beforeEach(async () => {
  const start = async (): Promise<Running> => {
    const api = await startApi({ kinds: [KIND] })
    return { api, client: await http2Client(api) }
  }
  left = await start()
  right = await start()
})
afterEach(async () => {
  for (const { api, client } of [left, right]) {
    client.close()
    await api.close()
  }
})

const both = (): [string, Running][] => [
  ['left', left],
  ['right', right],
]

const widget = (owner: string) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'default' },
  spec: { owner },
})

const ownerIn = (object: { spec: { owner: string; size: number } }) => object.spec

const create = (owner: string, { client }: Running) =>
  client.send({ method: 'POST', path: at('v1'), body: widget(owner) })

/** As an earlier schema has stored it, without the default. */
const store = (owner: string, { api }: Running) => api.context.objectStore(KIND).create(widget(owner))

describe.each([
  ['written by requests', create],
  ['stored under an earlier schema', store],
])('objects that were %s', (_, write) => {
  beforeEach(async () => {
    for (const [owner, server] of both()) await write(owner, server)
  })

  test.each(['v1', 'v2'])('are got and listed in %s from their own store', async each => {
    // Twice: what the first round has left behind is used by the second.
    for (let round = 0; round < 2; round++) {
      for (const [owner, { client }] of both()) {
        const got = (await client.send({ path: `${at(each)}/a` })).json()
        expect(ownerIn(got)).toEqual({ owner, size: 1 })
        const list = (await client.send({ path: at(each) })).json()
        expect(list.items.map(ownerIn)).toEqual([{ owner, size: 1 }])
      }
    }
  })

  test.each(['v1', 'v2'])('are watched in %s from their own store', async each => {
    for (const [owner, { client }] of both()) {
      const lines = linesOf(
        await client.open({
          path: `${at(each)}?watch=true&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
        }),
      )
      const first = (await lines.next()).value
      expect([first.type, ownerIn(first.object)]).toEqual(['ADDED', { owner, size: 1 }])
      await client.send({ method: 'DELETE', path: `${at('v1')}/a` })
      const second = (await lines.next()).value
      expect([second.type, ownerIn(second.object)]).toEqual(['DELETED', { owner, size: 1 }])
    }
  })

  test('are applied to in their own store', async () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    for (const [owner, { client }] of both()) {
      const body = { ...widget(`${owner} of the two`), metadata: { name: 'a' } }
      const path = `${at('v2')}/a?fieldManager=${owner}&force=true`
      const applied = await client.send({
        method: 'PATCH',
        path,
        headers,
        body: { ...body, apiVersion: 'example.com/v2' },
      })
      expect(ownerIn(applied.json()).owner).toBe(`${owner} of the two`)
      const managers = applied.json().metadata.managedFields.map(({ manager }: { manager: string }) => manager)
      expect(managers).toContain(owner)
      expect(managers).not.toContain(owner === 'left' ? 'right' : 'left')
    }
  })
})
