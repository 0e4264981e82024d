import { expect, test } from 'vitest'
import { asIntOrString, scaledValue } from './int-or-string.js'

test('only strings and int32 numbers are valid', () => {
  expect([5, 'http', -1].map(asIntOrString)).toEqual([5, 'http', -1])
  expect([1.5, true, null, 2 ** 31, 2n ** 60n, undefined].map(asIntOrString)).toEqual(Array(6).fill(undefined))
})

test.each([
  [3, 10, true, 3],
  ['25%', 10, true, 3],
  ['25%', 10, false, 2],
  ['100%', 7, false, 7],
])('%s of %d', (value, total, roundUp, expected) => {
  expect(scaledValue(value, total, roundUp)).toEqual({ ok: true, value: expected })
})

test('a string that is not a percentage cannot be scaled', () => {
  expect(scaledValue('ten', 10, true)).toEqual({
    ok: false,
    error: 'invalid value for IntOrString: invalid type: string is not a percentage',
  })
})
