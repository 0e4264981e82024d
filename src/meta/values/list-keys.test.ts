import { expect, test } from 'vitest'
import { firstByKey, repeatsOf } from './list-keys.js'

test('the indexes of repeated items', () => {
  expect([...repeatsOf(['a', 'b', 'a', 'c', 'a', 'b'])]).toEqual([2, 4, 5])
  expect([...repeatsOf([])]).toEqual([])
})

test('the first item of each key', () => {
  const items = [
    { name: 'a', n: 1 },
    { name: 'b', n: 2 },
    { name: 'a', n: 3 },
  ]
  expect([...firstByKey(items, ({ name }) => name).values()]).toEqual([items[0], items[1]])
})
