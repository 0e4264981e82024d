import { expect, test } from 'vitest'
import type { Entry } from '../store.js'
import { createAttributeReader } from './entry-attributes.js'

test('facts of recent writes are kept, and no more than so many', () => {
  const described: string[] = []
  const describer = createAttributeReader(key => {
    described.push(key)
    return { indexedFields: {}, data: key }
  }, 10)
  const attributesOf = (i: number) => describer.entry(entry(i)).attributes.data
  for (let i = 1; i <= 4; i++) attributesOf(i)
  for (let i = 1; i <= 4; i++) attributesOf(i)
  expect(described).toEqual(['/1', '/2', '/3', '/4'])

  for (let i = 5; i <= 100; i++) {
    expect(attributesOf(i)).toBe(`/${i}`)
    expect(attributesOf(1)).toBe('/1') // what is asked for again and again stays
  }
  expect(described).toHaveLength(100)
  attributesOf(2)
  expect(described).toHaveLength(101)
})

test('facts of another key are never taken for those of this one', () => {
  const describer = createAttributeReader(key => ({ indexedFields: {}, data: key }), 10)
  const first = { key: '/a', value: Buffer.alloc(0), revision: 1 }
  expect(describer.entry(first).attributes.data).toBe('/a')
  expect(describer.entry({ ...first, key: '/b' }).attributes.data).toBe('/b')
})

const entry = (i: number): Entry => ({ key: `/${i}`, value: Buffer.alloc(0), revision: i })
