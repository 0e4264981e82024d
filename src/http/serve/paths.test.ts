import { expect, test } from 'vitest'
import { findIn, firstOf, type PathHandler } from './paths.js'

const named = (): PathHandler => () => {}

test('a path is found by itself, or by the longest path above it', () => {
  const exact = named()
  const below = named()
  const far = named()
  const find = findIn(
    new Map([
      ['/a/b', exact],
      ['/a/*', below],
      ['/*', far],
    ]),
  )
  expect(find('/a/b')).toBe(exact)
  expect(find('/a/b/c')).toBe(below)
  expect(find('/a/')).toBe(below)
  expect(find('/a')).toBe(far)
  expect(findIn(new Map([['/a', exact]]))('/a/')).toBeUndefined()
})

test('a long path is looked up only as far as paths of the table reach', () => {
  let lookups = 0
  class Counting extends Map<string, PathHandler> {
    override get(path: string): PathHandler | undefined {
      lookups++
      return super.get(path)
    }
  }
  const below = named()
  const find = findIn(new Counting([['/a/b/*', below]]))
  expect([find('/a'.repeat(10_000)), find(`/a/b${'/a'.repeat(10_000)}`)]).toEqual([undefined, below])
  expect(lookups).toBeLessThan(10)
})

test('the first handler that is found serves a path', () => {
  const one = named()
  const other = named()
  const find = firstOf(
    findIn(new Map([['/a', one]])),
    findIn(
      new Map([
        ['/a', other],
        ['/b', other],
      ]),
    ),
  )
  expect([find('/a'), find('/b'), find('/c')]).toEqual([one, other, undefined])
})
