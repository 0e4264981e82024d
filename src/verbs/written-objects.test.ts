// How objects lie in the store after a write, and that reading them again takes no more than that.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { customKind } from '../crd/custom-kind.js'
import { NO_NAMES, withRightStatus } from '../crd/definition-status.js'
import { widgetDefinition } from '../crd/definitions.suite.js'
import { metaOf } from '../meta/object/object-meta.js'
import { systemRequest } from '../request/request.js'
import { type Target } from '../request/target.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from './api-context.js'
import type { ObjectResult } from './result.js'
import { createVerbs, type Verbs } from './verbs.js'

const KIND = customKind(builtinTypes(), withRightStatus(widgetDefinition(), NO_NAMES, 0))!
const target: Target = { kind: KIND, version: KIND.versions[0]!, namespace: 'default', name: 'a', subresource: '' }
const REQUEST = systemRequest({ user: { name: '', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NOTHING = new URLSearchParams()

let context: ApiContext
let verbs: Verbs
beforeEach(() => {
  context = createApiContext({ store: createMemoryStore() })
  verbs = createVerbs(context)
})
afterEach(() => context.close())

const write = async (
  verb: 'create' | 'patch',
  body: object,
  mediaType: string,
  query = NOTHING,
): Promise<ObjectResult> => {
  const bytes = Buffer.from(JSON.stringify(body))
  return (await verbs[verb](REQUEST, target, query, { bytes, mediaType })) as ObjectResult
}
const read = async (): Promise<ObjectResult> => (await verbs.get(REQUEST, target, NOTHING)) as ObjectResult
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', ownerReferences: [owner] } }

describe('a custom object that was written', () => {
  test('is served as it is stored, without parsing', async () => {
    await write('create', widget, 'application/json')
    expect((await read()).object.entry).toBeDefined()
    await write('patch', { metadata: { labels: { z: '1', a: '2' } } }, 'application/merge-patch+json')
    expect((await read()).object.entry).toBeDefined()
  })

  test('has sorted metadata', async () => {
    const { object } = await write('create', widget, 'application/json')
    const names = Object.keys(object.value().metadata)
    expect(names).toEqual(names.toSorted())
    expect(names).toContain('ownerReferences')
    const stored = (await read()).object.entry!.value.toString()
    const { metadata } = JSON.parse(stored) as { metadata: object }
    expect(Object.keys(metadata)).toEqual(names.filter(name => name !== 'resourceVersion'))
  })
})

test('of concurrent applies of a new object, one creates it and the others change it', async () => {
  const managers = ['a', 'b', 'c', 'd']
  const answers = await Promise.all(
    managers.map(fieldManager =>
      write(
        'patch',
        { ...widget, metadata: { name: 'a', labels: { [fieldManager]: '' } } },
        'application/apply-patch+yaml',
        new URLSearchParams({ fieldManager }),
      ),
    ),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(metaOf((await read()).object.value()).labels).toEqual({ a: '', b: '', c: '', d: '' })
})

test.each<[mediaType: string, patch: object]>([
  ['application/merge-patch+json', { spec: { nope: 'y' } }],
  ['application/json-patch+json', [{ op: 'add', path: '/spec', value: { nope: 'y' } }]],
])('a refused %s is quoted with what it adds', async (mediaType, patch) => {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } }
  const kind = customKind(builtinTypes(), withRightStatus(widgetDefinition({}, { schema }), NO_NAMES, 0))!
  const declared: Target = { ...target, kind, version: kind.versions[0]! }
  await write('create', widget, 'application/json')
  const body = { bytes: Buffer.from(JSON.stringify(patch)), mediaType }
  const refused = verbs.patch(REQUEST, declared, new URLSearchParams('fieldValidation=Strict'), body)
  await expect(refused).rejects.toThrow(/spec\W+nope\W+y/)
})
