import { expect, test } from 'vitest'
import { equalRuns } from './equal-lines.js'

const runs = (old: string, now: string) =>
  equalRuns(old.split(''), now.split(''))?.map(({ old: i, count }) => old.slice(i, i + count))

test('the longest run counts, and not the equal beginning', () => {
  expect(runs('ab', 'acab')).toEqual(['ab'])
  expect(runs('abcXdef', 'abcYdef')).toEqual(['abc', 'def'])
  expect(runs('abc', 'xyz')).toEqual([])
})

test('of two runs of one length the first one counts', () => {
  expect(equalRuns(['a', 'x', 'a'], ['a'])).toEqual([{ old: 0, now: 0, count: 1 }])
  expect(equalRuns(['a'], ['b', 'a', 'a'])).toEqual([{ old: 0, now: 1, count: 1 }])
})

test('in a long text, lines that come often start no run', () => {
  const often = Array.from({ length: 300 }, () => '{')
  expect(equalRuns(['x', '{'], often)).toEqual([])
  expect(equalRuns(['{', 'a', '{'], [...often, 'a', '{'])).toEqual([{ old: 0, now: 299, count: 3 }])
})

test('texts that take too long are not compared', () => {
  const lines = (mark: string) => Array.from({ length: 40_000 }, (_, i) => `${i % 600}${mark}`)
  expect(equalRuns(lines(''), [...lines(''), 'x'])).toBeUndefined()
})
