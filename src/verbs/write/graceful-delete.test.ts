import { afterEach, beforeEach, expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import type { Kind } from '../../kinds/kind.js'
import { hasReason } from '../../meta/errors/status.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { DeleteOptions } from '../../meta/options/write-options.js'
import { forResource, type ResourceRequest, systemRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import { type UserInfo } from '../../request/user-info.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import { MADE } from '../pipeline/prepared.js'
import { getObject } from '../read/get.js'
import { createObject } from './create.js'
import { type Removed, remove } from './delete.js'
import { replace } from './update.js'

const user: UserInfo = { name: 'test', uid: '', groups: [], extra: {} }
const requestFor = <O>(at: Target, options: O): ResourceRequest<O> =>
  forResource(systemRequest({ user, userAgent: 'test' }), at, options)
const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget' }
const WRITE = { dryRun: false, fieldManager: '', fieldValidation: '' } as const

/** Widgets with a grace period: the requested one, or 30 seconds. */
function runningWidgets(): Kind {
  const kind = widgetKind()
  const [version] = kind.versions
  const rules = {
    ...version!.strategy,
    gracePeriod: (_: unknown, requested: number | undefined) => requested ?? 30,
    blocksDeletion: (object: Parameters<typeof metaOf>[0]) =>
      Boolean(metaOf(object).finalizers?.length || metaOf(object).deletionGracePeriodSeconds),
  }
  return { ...kind, versions: [{ ...version!, strategy: rules }] }
}

const kind = runningWidgets()
const target: Target = { kind, version: kind.versions[0]!, namespace: 'x', name: 'a', subresource: '' }

let context: ApiContext
let validated: number
let now: number
beforeEach(() => {
  validated = 0
  now = Date.UTC(2024, 0, 1)
  const admission = { validate: async () => void validated++ }
  context = createApiContext({ store: createMemoryStore(), admission, now: () => now })
})
afterEach(() => context.close())

async function create(metadata = {}): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ ...WIDGET, metadata: { name: 'a', generation: 1, ...metadata } }))
  await createObject(context, requestFor({ ...target, name: '' }, WRITE), { bytes, mediaType: 'application/json' })
}

const del = (options: Partial<DeleteOptions> = {}): Promise<Removed> =>
  remove(context, requestFor(target, { dryRun: false, ignoreStoreReadError: false, ...options }))

async function isThere(): Promise<boolean> {
  try {
    await getObject(context, requestFor(target, { resourceVersion: '' }))
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false
    throw error
  }
}

test('an object with a grace period gets a deletionTimestamp at its end', async () => {
  await create()
  const { object, isGone } = await del()
  expect(isGone).toBe(false)
  expect(object.metadata).toMatchObject({
    generation: 2,
    deletionTimestamp: '2024-01-01T00:00:30Z',
    deletionGracePeriodSeconds: 30,
  })
})

test('a second delete changes nothing, unless its grace period is shorter', async () => {
  await create()
  const first = await del()
  now += 5_000
  const before = validated
  expect(await del()).toEqual(first)
  expect(await del({ gracePeriodSeconds: 40 })).toEqual(first)
  expect(validated).toBe(before)
  const { object, isGone } = await del({ gracePeriodSeconds: 10 })
  expect(isGone).toBe(false)
  expect(object.metadata).toMatchObject({
    generation: 2,
    deletionTimestamp: '2024-01-01T00:00:10Z',
    deletionGracePeriodSeconds: 10,
  })
})

test('a negative grace period is one second', async () => {
  await create()
  await del()
  expect((await del({ gracePeriodSeconds: -5 })).object.metadata['deletionGracePeriodSeconds']).toBe(1)
})

test('without a grace period the object is marked and then removed', async () => {
  await create()
  const { object, isGone } = await del({ gracePeriodSeconds: 0 })
  expect(isGone).toBe(true)
  expect(object.metadata).toMatchObject({ generation: 2, deletionGracePeriodSeconds: 0 })
  // Created, marked, gone.
  expect(object.metadata['resourceVersion']).toBe('3')
  expect(await isThere()).toBe(false)
})

test('a dry run changes nothing', async () => {
  await create()
  const { isGone } = await del({ gracePeriodSeconds: 0, dryRun: true })
  expect(isGone).toBe(true)
  expect(await isThere()).toBe(true)
  expect((await del()).object.metadata['generation']).toBe(2)
})

test('finalizers keep the object after its grace period, and an update that removes them removes the object only then', async () => {
  await create({ finalizers: ['a.b/c'] })
  await del()
  const update = async (change: object): Promise<void> =>
    void (await replace(context, requestFor(target, WRITE), async old => {
      const metadata = { ...old!.metadata, ...change }
      return { object: { ...old!, metadata }, ...MADE, isWhatClientSaw: false }
    }))
  await update({ labels: { a: 'b' } })
  expect(await isThere()).toBe(true)
  expect((await del({ gracePeriodSeconds: 0 })).isGone).toBe(false)
  await update({ finalizers: [] })
  expect(await isThere()).toBe(false)
})

test('an update does not end the grace period of an object without finalizers', async () => {
  await create()
  await del()
  await replace(context, requestFor(target, WRITE), async old => ({
    object: { ...old!, metadata: { ...old!.metadata, labels: { a: 'b' } } },
    ...MADE,
    isWhatClientSaw: false,
  }))
  expect(await isThere()).toBe(true)
})
