import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AttributeIndex, createAttributeIndex, INDEX_LIMITS } from './attribute-index.js'
import type { AttributeTerm, CachedEntry } from './entry-attributes.js'

type Labels = Readonly<Record<string, string>>

const entryOf = (key: string, labels: Labels | 'unreadable', revision = 1): CachedEntry<undefined> => ({
  key,
  value: Buffer.alloc(0),
  revision,
  get attributes() {
    if (labels === 'unreadable') throw new Error('not an object')
    return { indexedFields: {}, labels, data: undefined }
  },
})

const label = (name: string, ...values: string[]): AttributeTerm => ({ source: 'labels', name, values })
const exists = (name: string): AttributeTerm => ({ source: 'labels', name, values: undefined })
const [START, END] = ['/', '0']
const found = (index: AttributeIndex<undefined>, ...terms: AttributeTerm[]) => {
  const keys = index.find(terms, START, END)
  return keys && [...keys.keys]
}

test('finds by one value, several values, any value and several labels, in order of keys', () => {
  const index = createAttributeIndex<undefined>('labels')
  index.add(entryOf('/c', { app: 'x', tier: 'db' }))
  index.add(entryOf('/a', { app: 'x' }))
  index.add(entryOf('/b', { app: 'y', tier: 'db' }))
  index.add(entryOf('/d', {}))
  expect(found(index, label('app', 'x'))).toEqual(['/a', '/c'])
  expect(found(index, label('app', 'y', 'x', 'none', 'x'))).toEqual(['/a', '/b', '/c'])
  expect(found(index, exists('tier'))).toEqual(['/b', '/c'])
  expect(found(index, label('app', 'x'), exists('tier'))).toEqual(['/c'])
  expect(found(index, label('app', 'none'))).toEqual([])
  expect([...index.find([label('app', 'x')], '/b', END)!.keys]).toEqual(['/c'])
  expect(found(index, { source: 'indexedFields', name: 'app', values: ['x'] })).toBeUndefined()
})

test('entries that cannot be read are always found, so that their reader fails', () => {
  const index = createAttributeIndex<undefined>('labels')
  index.add(entryOf('/a', { app: 'x' }))
  index.add(entryOf('/b', 'unreadable'))
  expect(found(index, label('app', 'none'))).toEqual(['/b'])
  expect(index.find([label('app', 'x')], START, END)).toMatchObject({ isExact: false })
  const previous = entryOf('/b', 'unreadable')
  index.apply({ revision: 2, key: '/b', value: undefined, previous, entry: undefined })
  expect(found(index, label('app', 'x'))).toEqual(['/a'])
  expect(index.find([label('app', 'x')], START, END)).toMatchObject({ isExact: true })
})

test('a label with too many values is found by hashes, and what is found must be examined', () => {
  const long = (i: number): string => `v${i}`.padEnd(100, '-')
  const index = createAttributeIndex<undefined>('labels', { ...INDEX_LIMITS, attributeBytes: 200_000 })
  for (let i = 0; i < 1000; i++) index.add(entryOf(`/${i}`, { id: long(i % 900), app: 'x' }))
  expect(index.find([label('id', long(1))], START, END)).toMatchObject({ isExact: false })
  expect(found(index, label('id', long(1)))).toEqual(expect.arrayContaining(['/1', '/901']))
  expect(found(index, label('id', long(1)))!.length).toBeLessThan(20)
  expect(found(index, exists('id'))).toHaveLength(1000)
  const event = (before: string, now: string) => ({
    revision: 2,
    key: '/1',
    value: undefined,
    previous: entryOf('/1', { id: before }),
    entry: entryOf('/1', { id: now }),
  })
  index.apply(event(long(1), 'w'))
  expect(found(index, label('id', long(1)))).not.toContain('/1')
  expect(found(index, label('id', 'w'))).toContain('/1')
})

test('of very many labels only the first are indexed, and others are no longer known to be absent', () => {
  const index = createAttributeIndex<undefined>('labels', { ...INDEX_LIMITS, attributes: 3 })
  index.add(entryOf('/a', { a: '1', b: '1' }))
  index.add(entryOf('/b', { a: '1', c: '1' }))
  expect([found(index, label('a', '1')), found(index, exists('none'))]).toEqual([['/a', '/b'], []])
  index.add(entryOf('/c', { a: '2', d: '1' }))
  expect([found(index, label('a', '1')), found(index, label('c', '1'))]).toEqual([['/a', '/b'], ['/b']])
  expect([found(index, label('d', '1')), found(index, exists('none'))]).toEqual([undefined, undefined])
  expect(index.find([label('a', '2'), exists('d')], START, END)).toMatchObject({ isExact: false })
  // A label that nothing has any more is not indexed again: the index has not heard of all entries that may have it since.
  const [before, after] = [entryOf('/b', { a: '1', c: '1' }), entryOf('/b', { a: '1' })]
  index.apply({ revision: 2, key: '/b', value: undefined, previous: before, entry: after })
  index.add(entryOf('/e', { c: '1' }))
  expect(found(index, label('c', '1'))).toBeUndefined()
})

test('a second term of very many values is examined in the entries, not looked for in each of its values', () => {
  const index = createAttributeIndex<undefined>('labels')
  for (let i = 0; i < 100; i++) index.add(entryOf(`/${i}`, { id: `${i}`, ...(i % 2 === 0 && { other: `${i}` }) }))
  const selection = index.find([exists('id'), exists('other')], START, END)!
  expect([...selection.keys]).toHaveLength(50)
  expect(selection.isExact).toBe(false)
  expect(index.find([label('id', '2', '3'), label('other', '2')], START, END)).toMatchObject({ isExact: true })
})

test('a label that still takes too much memory is no longer indexed', () => {
  const index = createAttributeIndex<undefined>('labels', { ...INDEX_LIMITS, attributeBytes: 4_000 })
  for (let i = 0; i < 100; i++) index.add(entryOf(`/${i}`, { id: `v${i}`, app: 'x' }))
  expect(found(index, label('id', 'v1'))).toBeUndefined()
  expect(found(index, label('app', 'x'))).toHaveLength(100)
  // The other label still narrows the search, but what it finds must be examined.
  expect(index.find([label('id', 'v1'), label('app', 'x')], START, END)).toMatchObject({ isExact: false })
})

test('of labels that take too much memory together, the largest is no longer indexed', () => {
  const index = createAttributeIndex<undefined>('labels', { ...INDEX_LIMITS, bytes: 4_000 })
  for (let i = 0; i < 100; i++) index.add(entryOf(`/${i}`, { id: `v${i}`, app: 'x' }))
  expect(found(index, label('id', 'v1'))).toBeUndefined()
  expect(found(index, label('app', 'x'))).toHaveLength(100)
})

test('after any writes it finds what examining all entries finds', () => {
  const value = fc.constantFrom<string>('1', '2', '3')
  const labels = fc.oneof(
    { weight: 9, arbitrary: fc.record({ a: value, b: value, constructor: value }, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.constant('unreadable' as const) },
  )
  const write = fc.record({ key: fc.nat(12).map(i => `/${i}`), labels: fc.option(labels, { nil: undefined }) })
  const term = fc.record({
    source: fc.constant('labels' as const),
    name: fc.constantFrom('a', 'b', 'constructor'),
    values: fc.option(fc.array(value, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  })
  const several = fc.array(term, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(fc.array(write, { maxLength: 60 }), several, fc.integer({ min: 1, max: 4 }), (writes, terms, most) => {
      const index = createAttributeIndex<undefined>('labels', { ...INDEX_LIMITS, attributes: most })
      const model = new Map<string, Labels | 'unreadable'>()
      for (const { key, labels: now } of writes) {
        const before = model.get(key)
        index.apply({
          revision: 1,
          key,
          value: undefined,
          previous: before && entryOf(key, before),
          entry: now && entryOf(key, now),
        })
        if (now) model.set(key, now)
        else model.delete(key)
      }
      const matches = (of: Labels | 'unreadable') =>
        of === 'unreadable' ||
        terms.every(
          ({ name, values }) => Object.hasOwn(of, name) && (values === undefined || values.includes(of[name]!)),
        )
      const expected = [...model].filter(([, of]) => matches(of)).map(([key]) => key)
      const selection = index.find(terms, START, END)
      if (most >= 3) expect(selection).toBeDefined()
      if (!selection) return
      const keys = [...selection.keys]
      if (most >= 3 || selection.isExact) expect(keys).toEqual(expected.toSorted())
      else expect(keys).toEqual(expect.arrayContaining(expected))
    }),
  )
})
