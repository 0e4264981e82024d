import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareKeys } from '../keys.js'
import { createForkableMap, type ForkableMap } from './forkable-map.js'

const content = (map: ForkableMap<number>): [string, number][] =>
  [...map.keys('', '\uffff')].map(key => [key, map.get(key)!])

const sorted = (model: ReadonlyMap<string, number>): [string, number][] =>
  [...model].toSorted(([a], [b]) => compareKeys(a, b))

test('maps and their copies change independently, and each equals a plain map', () => {
  const key = fc.integer({ min: 0, max: 2000 }).map(number => `/k${number}`)
  const step = fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant('set' as const), on: fc.nat(), key, value: fc.nat() }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('delete' as const), on: fc.nat(), key }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('fork' as const), on: fc.nat() }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), steps => {
      const first = createForkableMap<number>()
      const model = new Map<string, number>()
      // More than one run from the start.
      for (let i = 0; i < 1500; i++) {
        first.set(`/k${i}`, i)
        model.set(`/k${i}`, i)
      }
      const pairs = [{ map: first, model }]
      for (const each of steps) {
        const pair = pairs[each.on % pairs.length]!
        if (each.do === 'set') {
          pair.map.set(each.key, each.value)
          pair.model.set(each.key, each.value)
        } else if (each.do === 'delete') {
          expect(pair.map.delete(each.key)).toBe(pair.model.delete(each.key))
        } else pairs.push({ map: pair.map.fork(), model: new Map(pair.model) })
      }
      for (const pair of pairs) {
        expect(content(pair.map)).toEqual(sorted(pair.model))
        expect(pair.map.size).toBe(pair.model.size)
        expect(pair.map.rank('/k5')).toBe([...pair.model.keys()].filter(each => compareKeys(each, '/k5') < 0).length)
      }
    }),
    { numRuns: 30 },
  )
})
