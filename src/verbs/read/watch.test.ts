import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { customKind } from '../../crd/custom-kind.js'
import { NO_NAMES, withRightStatus } from '../../crd/definition-status.js'
import { widgetDefinition } from '../../crd/definitions.suite.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { systemRequest } from '../../request/request.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { builtinTypes } from '../../types/type-table.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import { createVerbs } from '../verbs.js'

const request = systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' })

let context: ApiContext
beforeEach(() => {
  context = createApiContext({ store: createMemoryStore() })
})
afterEach(() => context.close())

/** The names of the objects that a watch in that version is sent, as they come. */
async function watch(kind: Kind, version: string, fieldSelector: string): Promise<string[]> {
  const target = {
    kind,
    version: kind.versions.find(({ name }) => name === version)!,
    namespace: 'x',
    name: '',
    subresource: '',
  }
  const query = new URLSearchParams({ watch: 'true', fieldSelector, resourceVersion: '1' })
  const names: string[] = []
  const prepared = await createVerbs(context).watch(request, target, query)
  prepared.start({
    event: (type, { value }) => names.push(`${type} ${metaOf(value()).name}`) > 0,
    bookmark: () => true,
    end: () => {},
  })
  return names
}

const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v2',
  schema: {
    openAPIV3Schema: { type: 'object', properties: { color: { type: 'string' } } },
  },
  selectableFields: [{ jsonPath: '.color' }],
})

const widget = (apiVersion: string, name: string, color: string): ApiObject => ({
  apiVersion: `example.com/${apiVersion}`,
  kind: 'Widget',
  metadata: { name, namespace: 'x' },
  color,
})

test.each(['v1', 'v2'])('a watch of %s by a field gets objects that are stored in any version', async each => {
  const definition = widgetDefinition({ versions: [version('v1'), version('v2')] })
  const kind = customKind(builtinTypes(), withRightStatus(definition, NO_NAMES, 0))!
  const objects = context.objectStore(kind)
  await objects.create(widget('v2', 'first', 'none'))
  const names = await watch(kind, each, 'color=red')
  await objects.create(widget('v1', 'old-red', 'red'))
  await objects.create(widget('v1', 'old-blue', 'blue'))
  await objects.create(widget('v2', 'new-red', 'red'))
  await objects.create(widget('v2', 'last', 'blue'))
  await expect.poll(() => names).toEqual(['ADDED old-red', 'ADDED new-red'])
})

test.each(['v1', 'events.k8s.io/v1'])('a watch of the events of %s by a field gets them', async apiVersion => {
  const kinds = builtinKinds(builtinTypes()).filter(({ names }) => names.kind === 'Event')
  const group = apiVersion.split('/').length > 1 ? 'events.k8s.io' : ''
  const kind = kinds.find(each => each.group === group)!
  const event = (name: string, reason: string) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'x' },
    involvedObject: {},
    reason,
  })
  const objects = context.objectStore(kind)
  await objects.create(event('first', 'None'))
  const names = await watch(kind, 'v1', 'reason=Failed')
  await objects.create(event('a', 'Failed'))
  await objects.create(event('b', 'Started'))
  await expect.poll(() => names).toEqual(['ADDED a'])
})

test('a watch from a resourceVersion that is not reached yet gets what comes after it', async () => {
  const kind = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'ConfigMap')!
  const objects = context.objectStore(kind)
  const created = await objects.create(configMap('first'))
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' }
  const from = String(created === false ? 0 : created.revision + 1)
  const query = new URLSearchParams({ watch: 'true', resourceVersion: from })
  const names: string[] = []
  const prepared = await createVerbs(context).watch(request, target, query)
  prepared.start({
    event: (type, { value }) => names.push(`${type} ${metaOf(value()).name}`) > 0,
    bookmark: () => true,
    end: () => {},
  })
  await objects.create(configMap('second'))
  await objects.create(configMap('third'))
  await expect.poll(() => names).toEqual(['ADDED third'])
})

const configMap = (name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'x' },
})

describe('watches that begin with the objects that exist', () => {
  const kind = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'ConfigMap')!
  /** The names that it begins with, `+` after those whose encoding other watches share. */
  async function initialNames(namespace = 'x'): Promise<string[]> {
    const target = { kind, version: kind.versions[0]!, namespace, name: '', subresource: '' }
    const query = new URLSearchParams(
      'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    )
    const prepared = await createVerbs(context).watch(request, target, query)
    const names: string[] = []
    return new Promise(resolve => {
      const open = prepared.start({
        event: (_, { value }, source) => names.push(`${metaOf(value()).name}${source ? '+' : ''}`) > 0,
        bookmark(revision) {
          resolve([...names, String(revision)])
          open.stop()
          return true
        },
        end: () => {},
      })
    })
  }

  beforeEach(async () => {
    await context.objectStore(kind).create(configMap('a'))
    await context.objectStore(kind).create(configMap('b'))
  })

  test('share them as long as nothing is written', async () => {
    expect(await initialNames()).toEqual(['a', 'b', '2'])
    expect(await initialNames()).toEqual(['a+', 'b+', '2'])
    expect(await initialNames('y')).toEqual(['2'])
  })

  test('see what was written before they begin', async () => {
    await initialNames()
    await context.objectStore(kind).create(configMap('c'))
    expect(await initialNames()).toEqual(['a', 'b', 'c', '3'])
    expect(await initialNames()).toEqual(['a+', 'b+', 'c+', '3'])
  })

  test('share pages', async () => {
    for (let i = 0; i < 510; i++) await context.objectStore(kind).create(configMap(`c${i}`))
    const alone = await initialNames()
    expect(alone).toHaveLength(513)
    expect(await initialNames()).toEqual(alone.map(name => (name === '512' ? name : `${name}+`)))
  })
})
