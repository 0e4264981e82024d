import { expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createKnownLists } from './known-lists.js'

const kind = widgetKind()
const versioned = { kind, version: kind.versions[0]! }
const bytes = (size: number) => [Buffer.from(new ArrayBuffer(size))]

test('a list is repeated when it is found again in the same state', () => {
  const lists = createKnownLists()
  expect(lists.find(versioned, '/a/', undefined, 1).isRepeated).toBe(false)
  expect(lists.find(versioned, '/a/', undefined, 1).isRepeated).toBe(true)
  expect(lists.find(versioned, '/a/', 5, 1).isRepeated).toBe(false)
  expect(lists.find(versioned, '/b/', undefined, 1).isRepeated).toBe(false)
  expect(lists.find(versioned, '/a/', undefined, 2).isRepeated).toBe(false)
})

test('a change of the objects or of their kind drops the items', () => {
  const lists = createKnownLists()
  lists.find(versioned, '/a/', undefined, 1).keep(bytes(10))
  expect(lists.find(versioned, '/a/', undefined, 1).items).toHaveLength(1)
  expect(lists.find({ ...versioned, kind: widgetKind() }, '/a/', undefined, 1).items).toBeUndefined()
  const old = lists.find(versioned, '/a/', undefined, 1)
  lists.find(versioned, '/a/', undefined, 2)
  old.keep(bytes(10))
  expect(old.items).toBeUndefined()
})

test('the list that was not requested for the longest time makes room', () => {
  const lists = createKnownLists(100)
  for (const prefix of ['/a/', '/b/']) lists.find(versioned, prefix, undefined, 1).keep(bytes(40))
  lists.find(versioned, '/a/', undefined, 1)
  lists.find(versioned, '/c/', undefined, 1).keep(bytes(40))
  lists.find(versioned, '/d/', undefined, 1).keep(bytes(101))
  const isKept = (prefix: string) => lists.find(versioned, prefix, undefined, 1).items !== undefined
  expect(['/a/', '/b/', '/c/', '/d/'].map(isKept)).toEqual([true, false, true, false])
})
