import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StatusError } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { type ManagedFieldsEntry, metaOf } from '../meta/object/object-meta.js'
import { copyValue, type Value, type ValueObject } from '../meta/values/value.js'
import { customMergeType } from './custom-merge-type.suite.js'
import {
  applyConfiguration,
  keepTimes,
  type ManagedType,
  managerName,
  NotOfType,
  trackUpdate,
} from './field-manager.js'
import { entriesAfterScale, scaleEntries } from './managers/scale-entries.js'
import { EMPTY } from './paths/field-set.js'

const text = { type: 'string' }
const schema = customMergeType({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        b: text,
        c: text,
        obj: { type: 'object', properties: { x: text, y: text } },
        list: { type: 'array', items: text },
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        items: {
          type: 'array',
          items: { type: 'object', properties: { name: text, value: text, other: text } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
})

const type: ManagedType = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  subresource: '',
  typeOf: apiVersion => (apiVersion === 'example.com/v1' ? schema : undefined),
  convert: object => object,
  resets: () => EMPTY,
  empty: () => ({ apiVersion: 'example.com/v1', kind: 'Widget' }),
}

const widget = (spec: Value | undefined, metadata: ValueObject = {}): ApiObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'x', ...metadata },
  ...(spec === undefined ? {} : { spec }),
})

const NOW = Date.parse('2026-01-01T00:00:00Z')

async function apply(
  live: ApiObject | undefined,
  manager: string,
  spec: Value | undefined,
  { force = false, now = NOW } = {},
): Promise<ApiObject> {
  const decodeMerged = (object: ApiObject): ApiObject => object
  return (await applyConfiguration(type, live, widget(spec), { manager, force, now, decodeMerged })).object
}

const entriesOf = (object: ApiObject): readonly ManagedFieldsEntry[] => metaOf(object).managedFields ?? []
const namesOf = (object: ApiObject): string[] => entriesOf(object).map(({ manager = '' }) => manager)

/** The object and who owns what; when is left out. */
function settledState(object: ApiObject): Value {
  const entries = entriesOf(object).map((entry): ManagedFieldsEntry => {
    const { time: _, ...rest } = entry
    return rest
  })
  entries.sort(({ manager: a = '' }, { manager: b = '' }) => (a < b ? -1 : 1))
  return copyValue({ ...object, metadata: { ...object.metadata, managedFields: entries as ValueObject[] } })
}

// ---- laws

const words = fc.constantFrom('1', '2', '3')
const names = fc.uniqueArray(fc.constantFrom('p', 'q', 'r', 's'), { maxLength: 4 })
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

/** Configurations whose values follow from where they are, so that no two of them conflict. */
const agreeing = fc
  .record({
    a: fc.boolean(),
    x: fc.boolean(),
    y: fc.boolean(),
    set: optional(names),
    items: optional(names),
    free: optional(names),
  })
  .map(({ a, x, y, set, items, free }) => {
    const spec: ValueObject = {}
    if (a) spec['a'] = 'same'
    if (x || y) spec['obj'] = { ...(x && { x: 'same' }), ...(y && { y: 'same' }) }
    if (set?.length) spec['set'] = set
    if (items?.length) spec['items'] = items.map(name => ({ name, value: 'same' }))
    if (free?.length) spec['free'] = Object.fromEntries(free.map(name => [name, { deep: 'same' }]))
    return spec
  })

const any = fc
  .record({
    a: optional(words),
    b: optional(words),
    list: optional(fc.array(words)),
    set: optional(names),
    items: optional(names),
    free: optional(fc.dictionary(fc.constantFrom('k', '__proto__', 'l'), words)),
  })
  .map(({ items, ...others }) => {
    const spec: ValueObject = {}
    for (const [name, value] of Object.entries(others)) if (value !== undefined) spec[name] = value
    if (items) spec['items'] = items.map(name => ({ name, value: name }))
    return spec
  })

describe('apply', () => {
  test('is idempotent', async () => {
    await fc.assert(
      fc.asyncProperty(any, any, async (first, second) => {
        const live = await apply(await apply(undefined, 'm1', first), 'm2', second, { force: true })
        const later = { force: true, now: NOW + 5000 }
        expect(await apply(live, 'm2', second, later)).toEqual(live)
      }),
      { numRuns: 100 },
    )
  })

  test('of fields on which managers agree comes to the same in any order', async () => {
    await fc.assert(
      fc.asyncProperty(agreeing, agreeing, async (a, b) => {
        const ab = await apply(await apply(undefined, 'A', a), 'B', b)
        const ba = await apply(await apply(undefined, 'B', b), 'A', a)
        expect(sorted(settledState(ab))).toEqual(sorted(settledState(ba)))
      }),
      { numRuns: 100 },
    )
  })

  test('removes fields that are no longer applied and have no other owner', async () => {
    await fc.assert(
      fc.asyncProperty(agreeing, agreeing, agreeing, async (first, then, others) => {
        const before = await apply(await apply(undefined, 'A', first), 'B', others)
        const after = await apply(before, 'A', then)
        const anew = await apply(await apply(undefined, 'B', others), 'A', then)
        // An object that its owner emptied is null, where one that never was filled is not there.
        expect(sorted(withoutNulls(settledState(after)))).toEqual(sorted(withoutNulls(settledState(anew))))
      }),
      { numRuns: 100 },
    )
  })

  test('and updates leave what they are given as it was', async () => {
    await fc.assert(
      fc.asyncProperty(any, any, any, async (first, second, third) => {
        const live = deepFrozen(await apply(undefined, 'm1', first))
        const applied = deepFrozen(await apply(live, 'm2', deepFrozen(second), { force: true }))
        const next = deepFrozen(widget(deepFrozen(third)))
        const before = JSON.stringify([live, applied, next])
        await trackUpdate(type, applied, next, 'u', NOW)
        expect(JSON.stringify([live, applied, next])).toBe(before)
      }),
      { numRuns: 60 },
    )
  })

  test('without a change keeps all times, and gives a new owner none', async () => {
    const live = await apply(undefined, 'm1', { a: '1' })
    expect(await apply(live, 'm1', { a: '1' }, { now: NOW + 5000 })).toEqual(live)
    const shared = await apply(live, 'm2', { a: '1' }, { now: NOW + 5000 })
    expect(entriesOf(shared).map(({ manager, time }) => [manager, time])).toEqual([
      ['m2', undefined],
      ['m1', '2026-01-01T00:00:00Z'],
    ])
  })

  test('of a configuration without metadata is left to those who check names', async () => {
    const request = {
      manager: 'kubectl',
      force: false,
      now: NOW,
      decodeMerged: (object: ApiObject): ApiObject => object,
    }
    const bare = { apiVersion: 'example.com/v1', kind: 'Widget', spec: { a: '1' } }
    const { object } = await applyConfiguration(type, undefined, bare, request)
    expect(object).toMatchObject({ metadata: { managedFields: [{ manager: 'kubectl' }] }, spec: { a: '1' } })
  })

  test('names an object that cannot be made of its type as the configuration does', async () => {
    const decodeMerged = (): never => {
      throw new NotOfType('illegal base64 data at input byte 0')
    }
    const request = { manager: 'm', force: false, now: NOW, decodeMerged }
    await expect(applyConfiguration(type, undefined, widget({ a: '1' }), request)).rejects.toThrow(
      'failed to convert new object (/x; example.com/v1, Kind=Widget) to proper version: illegal base64 data at input byte 0',
    )
  })

  test('of what is nested too deeply fails with an answer', async () => {
    let deep: Value = 'x'
    for (let i = 0; i < 10_000; i++) deep = { f: deep }
    await expect(apply(undefined, 'm1', { free: deep })).rejects.toBeInstanceOf(StatusError)
    const tracked = await trackUpdate(type, undefined, widget({ free: deep }), 'u', NOW)
    expect(entriesOf(tracked)).toEqual([])
  })

  test.each([{ apiVersion: 'example.com/v9' }, { kind: 'Other' }])(
    'of an object that names another type (%j) loses the managers',
    async other => {
      const live = await apply(undefined, 'm1', { a: '1' })
      const tracked = await trackUpdate(type, live, { ...widget({ a: '2' }), ...other }, 'u', NOW)
      expect(entriesOf(tracked)).toEqual([])
    },
  )

  test('of deeply nested values is merged and tracked', async () => {
    let deep: Value = 'x'
    for (let i = 0; i < 990; i++) deep = { f: deep }
    const live = await apply(undefined, 'm1', { free: deep })
    expect(await apply(live, 'm1', { free: deep })).toEqual(live)
    expect(namesOf(await trackUpdate(type, live, widget({ free: {} }), 'u', NOW))).toEqual([])
    expect((await apply(live, 'm1', { a: '1' }))['spec']).toEqual({ a: '1' })
  })

  test('takes time in proportion to the size of the object', async () => {
    const of = (count: number): Value => ({
      items: Array.from({ length: count }, (_, i) => ({ name: `item-${i}`, value: 'v' })),
    })
    const timed = async (count: number): Promise<number> => {
      const live = await apply(undefined, 'm1', of(count))
      const start = performance.now()
      await apply(live, 'm1', { items: (of(count) as { items: Value[] }).items.toReversed() })
      return performance.now() - start
    }
    await timed(500)
    const small = await timed(1000)
    const large = await timed(10_000)
    expect(large).toBeLessThan(Math.max(small, 5) * 60)
  })
})

// ---- updates

describe('an update', () => {
  test('owns what it sets on create, and of a change what has changed', async () => {
    const created = await trackUpdate(type, undefined, widget({ a: '1', b: '1' }), 'u1', NOW)
    const changed = await trackUpdate(type, created, widget({ a: '2', b: '1' }), 'u2', NOW)
    expect(entriesOf(changed).map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['u1', { 'f:spec': { '.': {}, 'f:b': {} } }],
      ['u2', { 'f:spec': { 'f:a': {} } }],
    ])
  })

  test('takes no part where an object has no managers', async () => {
    const live = widget({ a: '1' }, { uid: 'u' })
    expect(entriesOf(await trackUpdate(type, live, widget({ a: '2' }), 'u1', NOW))).toEqual([])
    expect(namesOf(await apply(live, 'm1', { b: '1' }))).toEqual(['m1', 'before-first-apply'])
  })

  test('resets managers with one empty entry', async () => {
    const live = await apply(undefined, 'm1', { a: '1' })
    const reset = (entries: Value) => trackUpdate(type, live, widget({ a: '1' }, { managedFields: entries }), 'u', NOW)
    expect(namesOf(await reset([{}]))).toEqual([])
    expect(namesOf(await reset([]))).toEqual(['m1'])
    expect(namesOf(await reset([{}, {}]))).toEqual(['m1'])
  })

  test('through a subresource does not touch the managers', async () => {
    const live = await apply(undefined, 'm1', { a: '1' })
    const status = { ...type, subresource: 'status' }
    expect(namesOf(await trackUpdate(status, live, widget({ a: '1' }, { managedFields: [{}] }), 'u', NOW))).toEqual([
      'm1',
    ])
  })

  test('takes the oldest of more than ten managers together', async () => {
    let live = await apply(undefined, 'm1', { free: {} })
    for (let i = 0; i < 13; i++) {
      const free = Object.fromEntries(Array.from({ length: i + 1 }, (_, k) => [`k${k}`, 'v']))
      live = await trackUpdate(type, live, widget({ free }), `u${String(i).padStart(2, '0')}`, NOW + i * 1000)
    }
    expect(namesOf(live)).toHaveLength(11)
    expect(entriesOf(live).find(({ manager }) => manager === 'ancient-changes')).toMatchObject({
      fieldsV1: { 'f:spec': { 'f:free': { 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } } },
      time: '2026-01-01T00:00:03Z',
    })
  })

  test('that changes nothing but times changes nothing', async () => {
    const live = await apply(undefined, 'm1', { a: '1' })
    const [entry] = entriesOf(live)
    const later = widget({ a: '1' }, { managedFields: [{ ...entry, time: '2030-01-01T00:00:00Z' }] })
    expect(keepTimes(later, live)).toEqual(live)
    const other = { ...later, spec: { a: '2' } }
    expect(keepTimes(other, live)).toBe(other)
  })
})

describe('the name of a manager', () => {
  test.each([
    ['given', 'kubectl/v1', 'given'],
    ['', 'kubectl/v1.36 (linux/amd64)', 'kubectl'],
    ['', 'with space/1', 'with space'],
    ['', 'tab\there/1', 'tabhere'],
    ['', '/leading', 'unknown'],
    ['', '', 'unknown'],
    ['', 'a'.repeat(140), 'a'.repeat(128)],
    ['', 'ü'.repeat(100), 'ü'.repeat(64)],
  ])('%j and User-Agent %j', (fieldManager, userAgent, name) => {
    expect(managerName(fieldManager, userAgent)).toBe(name)
  })
})

describe('the managers of a Scale', () => {
  const paths = new Map([['example.com/v1', ['f:spec', 'f:replicas']]])
  const entry = (manager: string, operation: string, fields: Value, subresource?: string): ManagedFieldsEntry => ({
    manager,
    operation,
    apiVersion: 'example.com/v1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': fields },
    ...(subresource === undefined ? {} : { subresource }),
  })
  const object = [entry('m1', 'Apply', { 'f:a': {}, 'f:replicas': {} }), entry('m2', 'Apply', { 'f:a': {} })]

  test('are those that own the replicas', () => {
    expect(scaleEntries(object, paths)).toMatchObject([
      { manager: 'm1', apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ])
  })

  test('take the replicas from the others, without a time', () => {
    const scale = { ...entry('hpa', 'Update', { 'f:replicas': {} }, 'scale'), apiVersion: 'autoscaling/v1' }
    expect(entriesAfterScale(object, [scale], paths, 'example.com/v1')).toEqual([
      { ...object[0], fieldsV1: { 'f:spec': { 'f:a': {} } } },
      object[1],
      {
        manager: 'hpa',
        operation: 'Update',
        apiVersion: 'example.com/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        subresource: 'scale',
      },
    ])
  })

  test('stay as they were where they still own them', () => {
    const scale = scaleEntries(object, paths) as ManagedFieldsEntry[]
    expect(entriesAfterScale(object, scale, paths, 'example.com/v1')).toEqual(object)
  })
})

// ---- as plain values

/** Lists as sets: in which order they come depends on who came first. */
function sorted(value: Value): Value {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value as ValueObject).map(([name, member]) => [name, sorted(member)]))
}

function withoutNulls(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as ValueObject).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) deepFrozen(member)
  }
  return value
}

test('what a create owns does not depend on what was created before', async () => {
  const spec = fc.record(
    {
      a: fc.oneof(fc.string(), fc.constant(null)),
      obj: fc.record({ x: fc.string(), y: fc.string() }, { requiredKeys: [] }),
      list: fc.array(fc.string(), { maxLength: 2 }),
      set: fc.uniqueArray(fc.string(), { maxLength: 2 }),
      free: fc.oneof(fc.constant({}), fc.constant({ p: 1 }), fc.constant({ p: { q: [] } }), fc.constant({ p: [1] })),
    },
    { requiredKeys: [] },
  )
  const create = async (as: ManagedType, each: Value) =>
    metaOf(await trackUpdate(as, undefined, widget(each, { labels: { app: 'a' } }), 'm', 0)).managedFields
  const used = { ...type }
  await fc.assert(
    fc.asyncProperty(spec, async each => {
      expect(await create(used, each as Value)).toEqual(await create({ ...type }, each as Value))
    }),
  )
})
