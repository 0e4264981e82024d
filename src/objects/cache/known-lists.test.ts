import { expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createKnownLists, type ListState } from './known-lists.js'

const kind = widgetKind()
const versioned = { kind, version: kind.versions[0]! }

const stateOf = (size: number, revision = 1): ListState => ({
  mark: { revision, epoch: 0 },
  pieces: [{ bytes: Buffer.from(new ArrayBuffer(size)), keys: [], starts: [] }],
  end: undefined,
})

test('a list is repeated when it is found again', () => {
  const lists = createKnownLists()
  expect(lists.find(versioned, '/a/', undefined).isRepeated).toBe(false)
  expect(lists.find(versioned, '/a/', undefined).isRepeated).toBe(true)
  expect(lists.find(versioned, '/a/', 5).isRepeated).toBe(false)
  expect(lists.find(versioned, '/b/', undefined).isRepeated).toBe(false)
})

test('a state takes the place of an earlier one, and a change of the kind drops it', () => {
  const lists = createKnownLists()
  const list = lists.find(versioned, '/a/', undefined)
  list.keep(stateOf(10, 5))
  list.keep(stateOf(10, 4))
  expect(list.state?.mark.revision).toBe(5)
  list.keep(stateOf(10, 6))
  expect(list.state?.mark.revision).toBe(6)
  expect(lists.find({ ...versioned, kind: widgetKind() }, '/a/', undefined).state).toBeUndefined()
  list.keep(stateOf(10, 7))
  expect(list.state).toBeUndefined()
})

test('the list that was not requested for the longest time makes room', () => {
  const lists = createKnownLists(100)
  for (const prefix of ['/a/', '/b/']) lists.find(versioned, prefix, undefined).keep(stateOf(40))
  lists.find(versioned, '/a/', undefined).keep(stateOf(50, 2))
  lists.find(versioned, '/c/', undefined).keep(stateOf(40))
  lists.find(versioned, '/d/', undefined).keep(stateOf(101))
  const isKept = (prefix: string) => lists.find(versioned, prefix, undefined).state !== undefined
  expect(['/a/', '/b/', '/c/', '/d/'].map(isKept)).toEqual([true, false, true, false])
})
