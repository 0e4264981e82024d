// What the recordings do not cover; they are replayed in ../recordings.test.ts.
import { describe, expect, test } from 'vitest'
import { decodeJson } from '../../codec/json/decode.js'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { compileSchema } from '../compiled-schema.js'

const schemaOf = (properties: ValueObject, rules: readonly ValueObject[] = []): ReturnType<typeof compileSchema> =>
  compileSchema({ type: 'object', properties, 'x-kubernetes-validations': [...rules] })

/** What rules say of an object, as JSON, after it was another. */
function given(schema: ReturnType<typeof compileSchema>, object: string, old?: string): readonly string[] {
  const read = (text: string): ValueObject => decodeJson(Buffer.from(text)).value as ValueObject
  const { errors, warnings } = schema.evaluateRules(read(object), old === undefined ? undefined : read(old), [])
  return [...errors.map(printFieldError), ...warnings.map(warning => `warning: ${warning}`)]
}

/** Whether a rule of the root holds. */
const holds = (properties: ValueObject, rule: string, object: string): boolean =>
  given(schemaOf(properties, [{ rule }]), object).length === 0

const list = (items: ValueObject, more: ValueObject = {}): ValueObject => ({
  type: 'array',
  items,
  maxItems: 10,
  ...more,
})
const STRING = { type: 'string', maxLength: 10 }
const PAIR = {
  type: 'object',
  properties: { 'a-key': { type: 'string', maxLength: 10 }, v: { type: 'integer' } },
  required: ['a-key'],
}
const SET = { 'x-kubernetes-list-type': 'set' }
const MAP = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a-key'] }

describe('lists', () => {
  test.each([
    ['lists in order', list(STRING), '["a","b"]', '["b","a"]', false],
    ['sets in any order', list(STRING, SET), '["a","b"]', '["b","a"]', true],
    ['sets of other items', list(STRING, SET), '["a","b"]', '["b","c"]', false],
    ['sets of numbers', list({ type: 'number' }, SET), '[1,2.5]', '[2.5,1.0]', true],
    ['sets of dates', list({ type: 'string', format: 'date' }, SET), '["2020-01-01"]', '["2020-01-01"]', true],
    ['list maps in any order', list(PAIR, MAP), '[{"a-key":"x"},{"a-key":"y"}]', '[{"a-key":"y"},{"a-key":"x"}]', true],
    ['list maps with other values', list(PAIR, MAP), '[{"a-key":"x","v":1}]', '[{"a-key":"x","v":2}]', false],
  ])('%s are compared', (_, schema, a, b, equal) => {
    expect(holds({ l: list(schema) }, 'self.l[0] == self.l[1]', `{"l":[${a},${b}]}`)).toBe(equal)
  })

  test('a list map takes the other value of a key that both have', () => {
    const rule = "(self.l[0] + self.l[1]).map(e, e.a__dash__key + string(e.v)) == ['x3', 'y2', 'z4']"
    const object = '{"l":[[{"a-key":"x","v":1},{"a-key":"y","v":2}],[{"a-key":"x","v":3},{"a-key":"z","v":4}]]}'
    expect(holds({ l: list(list(PAIR, MAP)) }, rule, object)).toBe(true)
  })
})

describe('objects', () => {
  const preserving = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { x: STRING } }

  test.each([
    ['what no schema tells of counts', '{"x":"1","y":{"z":1}}', '{"x":"1","y":{"z":2}}', false],
    ['what no schema tells of may be the same', '{"x":"1","y":{"z":1}}', '{"x":"1","y":{"z":1}}', true],
    ['members that are not there count', '{"x":"1"}', '{}', false],
  ])('%s', (_, a, b, equal) => {
    expect(holds({ l: list(preserving) }, 'self.l[0] == self.l[1]', `{"l":[${a},${b}]}`)).toBe(equal)
  })

  test.each(['__proto__', 'constructor', 'toString'])('%s is a field like others', name => {
    const property: ValueObject = JSON.parse(`{"${name}":{"type":"string"}}`) as ValueObject
    const field = name === '__proto__' ? '__underscores__proto__underscores__' : name
    expect(holds({ o: { type: 'object', properties: property } }, `!has(self.o.${field})`, '{"o":{}}')).toBe(true)
    expect(
      holds({ o: { type: 'object', properties: property } }, `self.o.${field} == 'a'`, `{"o":{"${name}":"a"}}`),
    ).toBe(true)
  })

  test.each(['__proto__', 'constructor'])('a map has the key %s only if it was sent', key => {
    const map = { type: 'object', additionalProperties: STRING, maxProperties: 5 }
    expect(holds({ m: map }, `!('${key}' in self.m)`, '{"m":{}}')).toBe(true)
    expect(holds({ m: map }, `'${key}' in self.m`, `{"m":{"${key}":"a"}}`)).toBe(true)
  })

  test('values that do not fit their schema are errors where a rule looks at them', () => {
    const schema = schemaOf({ a: { type: 'string' } }, [{ rule: "self.a == ''" }, { rule: 'has(self.a)' }])
    expect(given(schema, '{"a":[1]}')).toEqual([
      '<nil>: Invalid value: "object": invalid data, expected string, got []interface {} evaluating rule: self.a == \'\'',
    ])
  })

  test.each([
    ['has(self.o)', '{"o":{}}', true],
    ['has(self.o)', '{}', false],
    ['self.o == self.o', '{"o":{}}', true],
    ['self.?o.hasValue()', '{"o":{}}', true],
    ['has(self.any)', '{"any":{"a":1}}', true],
    ['self.list.all(i, has(i.o))', '{"list":[{"o":{}}]}', true],
  ])('an object without properties is a value like others: %s with %s is %s', (rule, object, expected) => {
    const o = { type: 'object' }
    const any = { type: 'object', additionalProperties: true }
    const properties = { o, any, list: list({ type: 'object', properties: { o } }) }
    expect(holds(properties, rule, object)).toBe(expected)
  })

  test('a date-time that only the schema takes is an error', () => {
    const time = { type: 'string', format: 'date-time', 'x-kubernetes-validations': [{ rule: 'self == self' }] }
    expect(given(schemaOf({ t: time }), '{"t":"2020-01-02t00:00:00z"}')).toEqual([
      't: Invalid value: "string": Invalid date-time formatted string 2020-01-02t00:00:00z: parsing time "2020-01-02t00:00:00z" as "2006-01-02T15:04:05.999999999Z07:00": cannot parse "t00:00:00z" as "T" evaluating rule: self == self',
    ])
  })
})

test('objects are read, never changed or copied', () => {
  const schema = schemaOf({ l: list(STRING, SET) }, [{ rule: "(self.l + ['x']).size() == 2" }])
  const items = Object.freeze(['a']) as unknown as string[]
  expect(schema.evaluateRules(Object.freeze({ l: items }), undefined, []).errors).toEqual([])
})

test('rules find what an item of a list map was before, and forgive what did not change', () => {
  const item = {
    ...PAIR,
    properties: {
      ...PAIR.properties,
      v: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }, { rule: 'self >= oldSelf' }] },
    },
  }
  const schema = schemaOf({ l: list(item, MAP) })
  const old = '{"l":[{"a-key":"x","v":3},{"a-key":"y","v":4}]}'
  expect(given(schema, '{"l":[{"a-key":"y","v":4},{"a-key":"x","v":2},{"a-key":"z","v":1}]}', old)).toEqual([
    'l[1].v: Invalid value: 2: failed rule: self > 5',
    'l[1].v: Invalid value: 2: failed rule: self >= oldSelf',
    'l[2].v: Invalid value: 1: failed rule: self > 5',
    'warning: l[0].v: Invalid value: 4: failed rule: self > 5',
  ])
})

test('a rule over a thousand items takes no time to speak of', () => {
  const item = { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer' } } }
  const schema = schemaOf({ l: { ...list(item), maxItems: 1000 } }, [
    { rule: "self.l.all(e, e.port > 0 && e.port < 65536 && e.name != '')" },
  ])
  const object = { l: Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}`, port: i + 1 })) }
  let fastest = Infinity
  for (let i = 0; i < 30; i++) {
    const started = performance.now()
    expect(schema.evaluateRules(object, undefined, []).errors).toEqual([])
    fastest = Math.min(fastest, performance.now() - started)
  }
  expect(fastest).toBeLessThan(5)
})

describe('work that costs little', () => {
  const many = Array.from({ length: 100_000 }, (_, i) => i)
  const text = 'a'.repeat(1_000_000)
  const ints = { type: 'array', items: { type: 'integer' } }

  test('the length of a long text is counted once', () => {
    const schema = schemaOf({ s: { type: 'string' }, l: ints }, [
      { rule: "self.l.all(x, self.s.size() > 0 && self.s != 'x')" },
    ])
    const started = performance.now()
    expect(schema.evaluateRules({ s: text, l: many.slice(0, 20_000) }, undefined, []).errors).toEqual([])
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test.each<[string, ValueObject, string, ValueObject]>([
    ['sets merged', { t: { ...ints, ...SET }, l: ints }, '(self.t + [-1]).size() > 0', { t: many }],
    [
      'lists of long texts compared',
      { t: list(list({ type: 'string' })), l: ints },
      'self.t[0] == self.t[1]',
      { t: [[`${text}b`], [`${text}c`]] },
    ],
  ])('%s again and again come to an end', (_, properties, rule, object) => {
    const schema = schemaOf(properties, [{ rule: `self.l.all(x, ${rule} || true)` }, { rule: 'false' }])
    expect(schema.evaluateRules({ ...object, l: many }, undefined, []).errors).toMatchObject([
      { detail: expect.stringContaining('no further validation rules will be run') as string },
    ])
  })
})

describe('values without a type', () => {
  const items = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.n < 9' }],
  }
  const NO_TYPE = 'rule compiler initialization error: failed to convert to declType for CEL validation rules'

  test('rules of items under an object cannot be evaluated', () => {
    const schema = schemaOf({ list: { type: 'object', items } })
    expect(given(schema, '{"list":[{"n":1}]}')).toEqual([`list[0]: Invalid value: "object": ${NO_TYPE}`])
    expect(given(schema, '{"list":{"n":1}}')).toEqual([])
  })

  test('rules below such items are not evaluated', () => {
    const schema = schemaOf({ list: { type: 'object', items: { type: 'object', properties: { a: items } } } })
    expect(given(schema, '{"list":[{"a":{"n":10}}]}')).toEqual([])
  })
})
