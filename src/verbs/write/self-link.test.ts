// A selfLink that a client sends: it is dropped when the object is stored, which a dry run does not do. As recorded.
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, type ObjectMeta } from '../../meta/object/object-meta.js'
import { forResource, systemRequest } from '../../request/request.js'
import { createWorld, type World } from '../api-world.suite.js'
import { createObject } from './create.js'
import { updateObject } from './update.js'

const CLIENT = systemRequest({ user: { name: 'a', uid: '', groups: [], extra: {} }, userAgent: 'test' })

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.context.close())

function requestFor(name: string, { subresource = '', dryRun = false }) {
  const kind = world.namespaces
  const target = { kind, version: kind.versions[0]!, namespace: '', name, subresource }
  return forResource(CLIENT, target, { dryRun, fieldManager: '', fieldValidation: '' } as const)
}

function bodyOf(metadata: ObjectMeta) {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata, status: { phase: 'Active' } }
  return { bytes: Buffer.from(JSON.stringify(namespace)), mediaType: 'application/json' }
}

const SENT = { name: 'a', selfLink: '/x' }

async function update(subresource: string, dryRun: boolean): Promise<ApiObject> {
  const request = requestFor('a', { subresource, dryRun })
  return (await updateObject(world.context, request, bodyOf(SENT))).object.value()
}

test.each([false, true])('a create drops it (dry run: %s)', async dryRun => {
  const { object } = await createObject(world.context, requestFor('', { dryRun }), bodyOf(SENT))
  expect(metaOf(object.value())).not.toHaveProperty('selfLink')
})

test.each(['', 'status', 'finalize'])('a dry run of an update answers with it (subresource: %s)', async subresource => {
  await world.createNamespace('a')
  expect(metaOf(await update(subresource, true))).toHaveProperty('selfLink', '/x')
  expect(metaOf(await update(subresource, false))).not.toHaveProperty('selfLink')
  expect(metaOf((await world.find(world.namespaces, '', 'a'))!)).not.toHaveProperty('selfLink')
})
