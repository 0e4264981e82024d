import { expect, test } from 'vitest'
import type { Entry } from '../store.js'
import { createAttributeReader } from './entry-attributes.js'

test('attributes of recent writes are cached, up to a limit', () => {
  const computed: string[] = []
  const attributeReader = createAttributeReader(key => {
    computed.push(key)
    return { indexedFields: {}, labels: {}, data: key }
  }, 10)
  const attributesOf = (i: number) => attributeReader.entry(entry(i)).attributes.data
  for (let i = 1; i <= 4; i++) attributesOf(i)
  for (let i = 1; i <= 4; i++) attributesOf(i)
  expect(computed).toEqual(['/1', '/2', '/3', '/4'])

  for (let i = 5; i <= 100; i++) {
    expect(attributesOf(i)).toBe(`/${i}`)
    expect(attributesOf(1)).toBe('/1') // an entry in use stays
  }
  expect(computed).toHaveLength(100)
  attributesOf(2)
  expect(computed).toHaveLength(101)
})

test('attributes of another key with the same revision are not used', () => {
  const attributeReader = createAttributeReader(key => ({ indexedFields: {}, labels: {}, data: key }), 10)
  const first = { key: '/a', value: Buffer.alloc(0), revision: 1 }
  expect(attributeReader.entry(first).attributes.data).toBe('/a')
  expect(attributeReader.entry({ ...first, key: '/b' }).attributes.data).toBe('/b')
})

const entry = (i: number): Entry => ({ key: `/${i}`, value: Buffer.alloc(0), revision: i })
