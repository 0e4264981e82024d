import { expect, test } from 'vitest'
import { fieldInvalid, printFieldError } from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import type { ValueObject } from '../../meta/values/value.js'
import {
  check,
  checkUpdate,
  each,
  eachString,
  field,
  forbidden,
  format,
  ifSet,
  immutable,
  maxBytes,
  maxItems,
  min,
  notNegative,
  onCreate,
  oneOf,
  optional,
  optionalOneOf,
  type Rule,
  range,
  required,
  run,
  union,
  unique,
} from './rules.js'

const errors = (rules: readonly Rule[], value: ValueObject, old?: ValueObject): string[] =>
  run(rules, value, old).map(printFieldError)

test('errors come in the order of the list', () => {
  const rules = [min('z', 0), check((_, path) => [fieldInvalid(path, 1, 'function')]), min('a', 0)]
  expect(errors([field('spec', rules)], { spec: { a: -1, z: -1 } })).toEqual([
    'spec.z: Invalid value: -1: must be greater than or equal to 0',
    'spec: Invalid value: 1: function',
    'spec.a: Invalid value: -1: must be greater than or equal to 0',
  ])
})

test.each<[string, Rule, ValueObject, string[]]>([
  ['required, absent', required('a'), {}, ['a: Required value']],
  ['required, empty', required('a', 'why'), { a: '' }, ['a: Required value: why']],
  ['required, there', required('a'), { a: 0 }, []],
  ['forbidden', forbidden('a', 'no'), { a: {} }, ['a: Forbidden: no']],
  ['oneOf', oneOf('a', ['y', 'x']), { a: 'z' }, ['a: Unsupported value: "z": supported values: "y", "x"']],
  ['oneOf, absent', oneOf('a', ['x']), {}, ['a: Unsupported value: "": supported values: "x"']],
  ['oneOf, absent but required', oneOf('a', ['x'], { required: true }), {}, ['a: Required value']],
  ['optionalOneOf, absent', optionalOneOf('a', ['x']), {}, []],
  ['optionalOneOf', optionalOneOf('a', ['x']), { a: 'z' }, ['a: Unsupported value: "z": supported values: "x"']],
  ['min, absent', min('a', 1), {}, []],
  ['min', min('a', 1), { a: 0 }, ['a: Invalid value: 0: must be greater than or equal to 1']],
  ['notNegative', notNegative('a', 'b'), { a: 0, b: -1 }, ['b: Invalid value: -1: must be greater than or equal to 0']],
  ['range', range('a', 1, 9), { a: 10 }, ['a: Invalid value: 10: must be between 1 and 9, inclusive']],
  ['format, empty', format('a', checkDnsLabel), { a: '' }, []],
  ['format, required', format('a', checkDnsLabel, { required: true }), {}, ['a: Required value']],
  ['maxBytes', maxBytes('a', 1), { a: 'ä' }, ['a: Too long: may not be more than 1 byte']],
  ['maxItems', maxItems('a', 1), { a: [1, 2] }, ['a: Too many: 2: must have at most 1 item']],
  ['unique by one key', unique('a', ['n']), { a: [{ n: 'x' }, { n: 'x' }] }, ['a[1].n: Duplicate value: "x"']],
  [
    'unique by two keys',
    unique('a', ['n', 'm']),
    { a: [{ n: 'x' }, { n: 'x', m: 1 }, { n: 'x' }] },
    ['a[2]: Duplicate value: {"n":"x"}'],
  ],
  ['each', each('a', [required('b')]), { a: [{ b: 1 }, {}] }, ['a[1].b: Required value']],
  ['eachString', eachString('a', (_, path) => [fieldInvalid(path, 0, '')]), { a: ['x'] }, ['a[0]: Invalid value: 0']],
  ['field, absent', field('a', [required('b')]), {}, ['a.b: Required value']],
  ['ifSet, absent', ifSet('a', [required('b')]), {}, []],
  ['ifSet, empty', ifSet('a', [required('a')]), { a: '' }, ['a: Required value']],
  ['optional, absent', optional('a', [required('b')]), {}, []],
  ['union', union('t', { A: [required('a')], B: [] }), { t: 'A' }, ['a: Required value']],
  ['union, another', union('t', { A: [] }, [required('x')]), { t: 'toString' }, ['x: Required value']],
])('%s', (_, rule, value, expected) => {
  expect(errors([rule], value)).toEqual(expected)
})

test('rules for updates do not apply to a create', () => {
  const rules = [immutable('a'), checkUpdate((_, __, path) => [fieldInvalid(path, null, 'changed')])]
  expect(errors(rules, { a: 1 })).toEqual([])
  expect(errors([field('s', rules)], { s: { a: 1 } }, { s: { a: 2 } })).toEqual([
    's.a: Invalid value: 1: field is immutable',
    's: Invalid value: null: changed',
  ])
})

test('rules for a create do not apply to an update', () => {
  expect(errors([onCreate([required('a')])], {}, {})).toEqual([])
  expect(errors([onCreate([required('a')])], {})).toEqual(['a: Required value'])
})

test('the items of a list find their old values by their key', () => {
  const rules = [each('a', [immutable('v')], { key: 'n' })]
  const old = {
    a: [
      { n: 'y', v: 1 },
      { n: 'x', v: 2 },
    ],
  }
  expect(
    errors(
      rules,
      {
        a: [
          { n: 'x', v: 3 },
          { n: 'z', v: 4 },
        ],
      },
      old,
    ),
  ).toEqual(['a[0].v: Invalid value: 3: field is immutable'])
})

test('an immutable selector is shown in the order of its fields, and its labels by name', () => {
  const changed = { s: { matchExpressions: [{ operator: 'Exists', key: 'k' }], matchLabels: { b: '1', a: '2' } } }
  expect(errors([immutable('s', { selector: true })], changed, {})).toEqual([
    's: Invalid value: {"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"Exists"}]}: field is immutable',
  ])
})
