import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  copyValue,
  equalValues,
  getOwn,
  isFloat,
  isInteger,
  isObject,
  setOwn,
  type Value,
  WholeFloat,
} from './value.js'

const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.string(),
    fc.integer(),
    fc.bigInt(2n ** 60n, 2n ** 62n),
    fc.integer().map(n => new WholeFloat(n)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__'), fc.constant('constructor')), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value

function deep(levels: number, leaf: Value): Value {
  let value = leaf
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value }
  return value
}

describe('a copy', () => {
  test('equals the original, and shares nothing', () => {
    fc.assert(
      fc.property(values, value => {
        const copy = copyValue(value)
        expect(equalValues(copy, value)).toBe(true)
        if (isObject(value) || Array.isArray(value)) expect(copy).not.toBe(value)
      }),
    )
  })

  test('may be of the maximum depth', () => {
    expect(equalValues(copyValue(deep(10_000, 1)), deep(10_000, 1))).toBe(true)
    expect(equalValues(deep(10_000, 1), deep(10_000, 2))).toBe(false)
  })
})

describe('equality', () => {
  test.each<[Value, Value, boolean]>([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [[1, 2], [2, 1], false],
    [1, new WholeFloat(1), false],
    [new WholeFloat(1), new WholeFloat(1), true],
    [[], {}, false],
    [{ constructor: 1 }, {}, false],
    [null, {}, false],
    [2n ** 60n, 2n ** 60n, true],
  ])('of %o and %o is %s', (a, b, expected) => expect(equalValues(a, b)).toBe(expected))
})

test('members of any name are own members', () => {
  const object = {}
  setOwn(object, '__proto__', { polluted: true })
  expect(getOwn(object, '__proto__')).toEqual({ polluted: true })
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
  expect(getOwn({}, 'constructor')).toBeUndefined()
})

test('numbers are integers or floats as Go has them', () => {
  expect([1, 2n ** 60n].every(isInteger)).toBe(true)
  expect([1.5, new WholeFloat(1e18)].every(isFloat)).toBe(true)
  expect([1.5, new WholeFloat(1)].some(isInteger)).toBe(false)
})
