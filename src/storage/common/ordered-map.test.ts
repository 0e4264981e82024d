import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareKeys } from '../keys.js'
import { createOrderedMap, type OrderedMap } from './ordered-map.js'

const LAST = '\u{10ffff}'
const keysOf = (map: OrderedMap<unknown>): string[] => [...map.keys('', LAST)]
const name = (i: number): string => `/k/${String(i).padStart(6, '0')}`

describe('an ordered map', () => {
  test('is empty at first', () => {
    const map = createOrderedMap<number>()
    expect(map.size).toBe(0)
    expect(map.get('/a')).toBeUndefined()
    expect(map.delete('/a')).toBe(false)
    expect(keysOf(map)).toEqual([])
    expect(map.rank('/a')).toBe(0)
  })

  test('keeps keys in order, for any order of insertion', () => {
    const step = fc.record({ key: fc.nat(40).map(name), value: fc.option(fc.nat()) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.nat(42), fc.nat(42), (steps, from, to) => {
        const map = createOrderedMap<number>()
        const model = new Map<string, number>()
        for (const { key, value } of steps) {
          if (value === null) expect(map.delete(key)).toBe(model.delete(key))
          else {
            map.set(key, value)
            model.set(key, value)
          }
        }
        const sorted = [...model.keys()].toSorted(compareKeys)
        expect(map.size).toBe(model.size)
        expect(keysOf(map)).toEqual(sorted)
        const [start, end] = [name(from), name(to)]
        expect([...map.keys(start, end)]).toEqual(sorted.filter(key => key >= start && key < end))
        expect(map.rank(start)).toBe(sorted.filter(key => key < start).length)
        for (const key of sorted) expect(map.get(key)).toBe(model.get(key))
      }),
    )
  })

  // Enough keys for several runs, in the orders that split them differently.
  const count = 3000
  const upwards = Array.from({ length: count }, (_, i) => i)
  test.each([
    ['upwards', upwards],
    ['downwards', upwards.toReversed()],
    ['from both ends', upwards.map(i => (i % 2 === 0 ? i : count - i))],
    ['scattered', upwards.map(i => (i * 1009) % count)],
  ])('holds many keys that come %s', (_, order) => {
    const map = createOrderedMap<number>()
    for (const i of order) map.set(name(i), i)
    expect(keysOf(map)).toEqual(upwards.map(name))
    for (const i of [0, 1, 511, 512, 513, 1500, 2999]) {
      expect(map.rank(name(i))).toBe(i)
      expect(map.get(name(i))).toBe(i)
      expect([...map.keys(name(i), LAST)]).toHaveLength(count - i)
      expect([...map.keys('', name(i))]).toHaveLength(i)
    }
    expect(map.rank(LAST)).toBe(count)

    for (const i of order) if (i % 3 !== 0) expect(map.delete(name(i))).toBe(true)
    expect(map.size).toBe(count / 3)
    expect(keysOf(map)).toEqual(upwards.filter(i => i % 3 === 0).map(name))
    expect(map.rank(name(1500))).toBe(500)
    for (const i of order) map.delete(name(i))
    expect(map.size).toBe(0)
    expect(keysOf(map)).toEqual([])
  })

  test('replaces a value in place', () => {
    const map = createOrderedMap<string>()
    map.set('/a', 'one')
    map.set('/a', 'two')
    expect([map.size, map.get('/a'), keysOf(map)]).toEqual([1, 'two', ['/a']])
  })
})
