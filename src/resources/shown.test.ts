import { afterEach, expect, test } from 'vitest'
import type { ApiObject, Kind } from '../kinds/kind.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import type { ObjectAnswer } from './answer.js'
import { widgetKind } from './fake-kinds.suite.js'
import { createResourceContext, type ResourceContext } from './resource-context.js'
import { createVerbs } from './verbs.js'

const CALLER = { name: 'a', uid: '', groups: [], extra: {}, userAgent: 'test' }
const NO_QUERY = new URLSearchParams()

let context: ResourceContext | undefined
afterEach(() => context?.close())

/** A kind whose objects may be read otherwise than they are stored, and how often one was. */
function readingKind(change: (object: ApiObject) => ApiObject): { kind: Kind; reads(): number } {
  let count = 0
  const read = (object: ApiObject): ApiObject => {
    count++
    return change(object)
  }
  return { kind: widgetKind({ read }), reads: () => count }
}

async function create(kind: Kind): Promise<ObjectAnswer> {
  context = createResourceContext({ store: createMemoryStore() })
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' } as const
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { color: 'red' } }
  const sent = { bytes: Buffer.from(JSON.stringify(body)), mediaType: 'application/json' }
  return (await createVerbs(context).create(target, NO_QUERY, sent, CALLER)) as ObjectAnswer
}

async function get(kind: Kind): Promise<ObjectAnswer> {
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: 'a', subresource: '' } as const
  return (await createVerbs(context!).get(target, NO_QUERY)) as ObjectAnswer
}

test('what was written under the present rules is shown as it is stored, without a look inside', async () => {
  const { kind, reads } = readingKind(object => object)
  const created = await create(kind)
  const before = reads()
  const got = await get(kind)
  expect(reads()).toBe(before)
  expect(got.object.entry?.revision).toBe(1)
  expect(created.object.value()).toEqual(got.object.value())
})

test('what is read otherwise than it was written is shown as it is read, to its writer too', async () => {
  const { kind } = readingKind(object => ({ ...object, spec: { color: 'blue' } }))
  const created = await create(kind)
  expect(created.object.value()['spec']).toEqual({ color: 'blue' })
  expect((await get(kind)).object.value()['spec']).toEqual({ color: 'blue' })
})
