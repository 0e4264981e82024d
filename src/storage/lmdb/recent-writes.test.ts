import { expect, test } from 'vitest'
import type { Entry, StoreEvent } from '../store.js'
import { changesWithin, createRecentWrites, withChanges } from './recent-writes.js'

const entry = (key: string, revision: number): Entry => ({ key, value: Buffer.from(`${revision}`), revision })
const write = (revision: number, key: string, previous?: Entry): StoreEvent => ({
  revision,
  key,
  value: Buffer.from(`${revision}`),
  previous,
})
const remove = (revision: number, key: string, previous: Entry): StoreEvent => ({
  revision,
  key,
  value: undefined,
  previous,
})

/** `b` is updated, deleted and created again; `d` is created; `e` is deleted. */
const EVENTS = [
  write(11, 'b', entry('b', 3)),
  remove(12, 'b', entry('b', 11)),
  write(13, 'd'),
  write(14, 'b'),
  remove(15, 'e', entry('e', 5)),
]

test('an entry is that of the last write up to a revision', () => {
  const recent = createRecentWrites()
  recent.add(EVENTS, 10)
  expect(recent.find('b')).toEqual({ entry: entry('b', 14) })
  expect(recent.find('b', 13)).toEqual({ entry: undefined })
  expect(recent.find('b', 11)).toEqual({ entry: entry('b', 11) })
  expect(recent.find('b', 10), 'the tables have it').toBeUndefined()
  expect(recent.find('a')).toBeUndefined()
  const { events } = recent
  recent.clear()
  expect(recent.find('b')).toBeUndefined()
  expect([recent.events, recent.bytes]).toEqual([[], 0])
  expect(events, 'a read under way still has them').toHaveLength(5)
})

const STORED = ['a', 'b', 'c', 'e'].map((key, i) => entry(key, i + 2))

test.each([
  [15, ['a2', 'b14', 'c4', 'd13']],
  [13, ['a2', 'c4', 'd13', 'e5']],
  [11, ['a2', 'b11', 'c4', 'e5']],
  [10, ['a2', 'b3', 'c4', 'e5']],
])('entries at revision %d', (asOf, expected) => {
  const changes = changesWithin(EVENTS, 'a', 'z', 10, asOf)
  const entries = [...withChanges(STORED, changes)]
  expect(entries.map(({ key, revision }) => `${key}${revision}`)).toEqual(expected)
  const growth = changes.reduce(
    (sum, { entry: left, existed }) => sum + Number(left !== undefined) - Number(existed),
    0,
  )
  expect(STORED.length + growth).toBe(expected.length)
})

test('changes are those of the range', () => {
  expect(changesWithin(EVENTS, 'c', 'e', 10, 15).map(({ key }) => key)).toEqual(['d'])
  expect(changesWithin(EVENTS, 'a', 'z', 14, 15).map(({ key }) => key)).toEqual(['e'])
})
