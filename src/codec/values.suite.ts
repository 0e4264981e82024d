// Generates any value that an API object can have, for the property tests of the codecs.
import * as fc from 'fast-check'
import { setOwn, type Value, type ValueObject, WholeFloat } from '../meta/values/value.js'

const INT64_MAX = 2n ** 63n - 1n

const integer = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.bigInt({ min: -INT64_MAX - 1n, max: INT64_MAX }).map(n => (Number.isSafeInteger(Number(n)) ? Number(n) : n)),
)

const float = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map(n => (Number.isInteger(n) ? new WholeFloat(n) : n))

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom(...Array.from(' \n\t"\'#:-?,[]{}|>&*!%@`~<=.019yn_aé😀\u0085\u2028\ufeff\u0007')),
    maxLength: 12,
  }),
  fc.constantFrom(
    'yes',
    'null',
    '~',
    '010',
    '1.0',
    '.inf',
    '2001-01-01',
    '12:30',
    '<<',
    '---',
    '__proto__',
    'constructor',
  ),
)

/** Any value: int64s, floats, strings with special characters, and lists and objects of them. */
export function anyValue(): fc.Arbitrary<Value> {
  const { value } = fc.letrec<{ value: Value }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Value>(null, true, false),
      integer,
      float,
      text,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.array(fc.tuple(text, tie('value')), { maxLength: 5 }).map(toObject),
    ),
  }))
  return value
}

function toObject(members: [string, Value][]): ValueObject {
  const object: ValueObject = {}
  for (const [key, value] of members) setOwn(object, key, value)
  return object
}
