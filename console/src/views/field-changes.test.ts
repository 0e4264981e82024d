import { expect, test } from 'vitest'
import { changesBetween } from './field-changes.js'

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, [['a', 1, 2]]],
  [
    { a: { b: 1 } },
    { a: { c: 1 } },
    [
      ['a.b', 1, undefined],
      ['a.c', undefined, 1],
    ],
  ],
  [{ l: [1, 2] }, { l: [1, 3] }, [['l[1]', 2, 3]]],
  [{ l: [1] }, { l: [1, 2] }, [['l', [1], [1, 2]]]],
  [
    { metadata: { resourceVersion: '1', labels: { 'a.b/c': 'x' } } },
    { metadata: { resourceVersion: '2', labels: {} } },
    [['metadata.labels["a.b/c"]', 'x', undefined]],
  ],
])('%j to %j', (before, after, changes) => {
  expect(changesBetween(before, after).map(({ field, before: a, after: b }) => [field, a, b])).toEqual(changes)
})
