import { expect, test } from 'vitest'
import type { Table } from '../../api/tables.js'
import { createRowStore, naturalKey, type Sort } from './row-store.js'

const BY_NAME: Sort = { column: 0, descending: false }
const COLUMNS = [
  { name: 'Name', type: 'string' },
  { name: 'Replicas', type: 'integer' },
]

const table = (...rows: [name: string, replicas: number, labels?: Record<string, string>][]): Table => ({
  metadata: {},
  columnDefinitions: COLUMNS,
  rows: rows.map(([name, replicas, labels]) => ({
    cells: [name, replicas],
    object: { metadata: { name, namespace: 'a', ...(labels && { labels }) } },
  })),
})

const names = (store: ReturnType<typeof createRowStore>, text = '', sort = BY_NAME): string[] =>
  store.view(text, sort).map(({ name }) => name)

test('a list is ordered by name, with numbers as numbers', () => {
  const store = createRowStore()
  store.addPage(table(['web-10', 1], ['web-9', 1]), true)
  store.addPage(table(['db', 1]), false)
  expect(names(store)).toEqual(['db', 'web-9', 'web-10'])
})

test('the first page of a new list replaces everything', () => {
  const store = createRowStore()
  store.addPage(table(['old', 1]), true)
  store.addPage(table(['new', 1]), true)
  expect(names(store)).toEqual(['new'])
})

test('events add, change and remove rows', () => {
  const store = createRowStore()
  store.addPage(table(['a', 1], ['b', 2]), true)
  store.applyEvent('ADDED', table(['c', 3]), 1)
  store.applyEvent('MODIFIED', table(['a', 9]), 2)
  store.applyEvent('DELETED', table(['b', 2]), 3)
  expect(store.view('', BY_NAME).map(({ cells }) => cells)).toEqual([
    ['a', 9],
    ['c', 3],
  ])
})

test('an event that cannot change the order leaves the array as it is', () => {
  const store = createRowStore()
  store.addPage(table(['a', 1], ['b', 2]), true)
  const before = store.view('', BY_NAME)
  store.applyEvent('MODIFIED', table(['a', 5]), 1)
  expect(store.view('', BY_NAME)).toBe(before)
  expect(before[0]!.cells).toEqual(['a', 5])
})

test('an event that changes the value sorted by changes the order', () => {
  const store = createRowStore()
  const byReplicas: Sort = { column: 1, descending: true }
  store.addPage(table(['a', 1], ['b', 2]), true)
  expect(names(store, '', byReplicas)).toEqual(['b', 'a'])
  store.applyEvent('MODIFIED', table(['a', 3]), 1)
  expect(names(store, '', byReplicas)).toEqual(['a', 'b'])
})

test('after any events the order is that of a new list', () => {
  const byReplicas: Sort = { column: 1, descending: true }
  const store = createRowStore()
  const known = new Map<string, number>()
  // A fixed sequence of numbers that looks like chance.
  let seed = 7
  const next = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  store.addPage(table(), true)
  for (let step = 0; step < 600; step++) {
    const name = `row-${next(60)}`
    if (next(4) === 0) {
      known.delete(name)
      store.applyEvent('DELETED', table([name, 0]), step)
    } else {
      known.set(name, next(30))
      store.applyEvent('MODIFIED', table([name, known.get(name)!]), step)
    }
    if (step % 7 !== 0) continue
    const fresh = createRowStore()
    fresh.addPage(table(...known), true)
    expect(names(store, '1', byReplicas)).toEqual(names(fresh, '1', byReplicas))
  }
})

test('every word of the filter is in the name, a cell or a label', () => {
  const store = createRowStore()
  store.addPage(table(['a', 17, { team: 'Red' }], ['b', 17], ['c', 1, { team: 'red' }]), true)
  expect(names(store, '17')).toEqual(['a', 'b'])
  expect(names(store, 'team=red 17')).toEqual(['a'])
  store.applyEvent('MODIFIED', table(['c', 17, { team: 'red' }]), 1)
  expect(names(store, 'team=red 17')).toEqual(['a', 'c'])
})

test('a text with numbers is compared by their values', () => {
  expect(naturalKey('v1beta2') < naturalKey('v1beta10')).toBe(true)
})
