// Schemas and values made to hurt: each is answered clearly, in bounded time, and the process lives on.
import { describe, expect, test } from 'vitest'
import { decodeJson } from '../codec/json/decode.js'
import { MAX_FOUND } from '../meta/errors/error-limit.js'
import { printFieldError } from '../meta/errors/field-errors.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { checkSchema } from './check/check-schema.js'
import { compileSchema } from './compiled-schema.js'
import { MAX_SCHEMA_DEPTH } from './structure/structural.js'

function nestedItems(depth: number): ValueObject {
  let schema: ValueObject = { type: 'string' }
  for (let i = 1; i < depth; i++) schema = { type: 'array', items: schema }
  return schema
}

function nestedLists(depth: number, inside: Value): Value {
  let value = inside
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

const manyItems = (count: number): ValueObject[] => Array.from({ length: count }, () => ({ items: { minimum: 0 } }))

const isHiddenLevel = (around: (below: ValueObject) => ValueObject): boolean => !('type' in around({}))

const withSpec = (spec: ValueObject): ValueObject => ({ type: 'object', properties: { spec } })

describe('schemas', () => {
  test.each(['items', 'additionalProperties', 'not'])('nested 10,000 deep by %s are refused', keyword => {
    let schema: ValueObject = { type: 'string' }
    for (let i = 0; i < 10_000; i++) schema = { type: 'array', [keyword]: schema }
    const { errors } = checkSchema(withSpec(schema), 'spec.validation.openAPIV3Schema')
    expect(errors.map(printFieldError)).toEqual([
      `spec.validation.openAPIV3Schema: Invalid value: "": must not be nested more than ${MAX_SCHEMA_DEPTH} schemas deep`,
    ])
    expect(() => compileSchema(withSpec(schema)).validate({})).toThrow(RangeError)
  })

  test('as deep as allowed are checked and used', () => {
    const written = withSpec(nestedItems(MAX_SCHEMA_DEPTH - 1))
    expect(checkSchema(written, 'x').errors).toEqual([])
    const schema = compileSchema(written)
    const object: ValueObject = { spec: nestedLists(MAX_SCHEMA_DEPTH - 2, 'x') }
    expect(schema.shape(object).unknown).toEqual([])
    schema.default(object)
    expect(schema.validate(object)).toEqual([])
    expect(schema.validateUpdate(object, { spec: nestedLists(MAX_SCHEMA_DEPTH - 2, 1) })).toEqual([])
    expect(schema.validate({ spec: nestedLists(MAX_SCHEMA_DEPTH - 2, 1) })).toHaveLength(1)
  })

  test('with patterns that make other engines backtrack are matched in linear time', () => {
    const schema = compileSchema(withSpec({ type: 'string', pattern: '^(a+)+$' }))
    expect(schema.validate({ spec: `${'a'.repeat(50_000)}!` })).toHaveLength(1)
    expect(schema.validate({ spec: 'a'.repeat(50_000) })).toEqual([])
  })

  test.each<[string, ValueObject, Value]>([
    ['branches', { type: 'string', allOf: Array.from({ length: 3_000 }, () => ({})) }, 'a'],
    ['branches of lists', { type: 'array', items: { type: 'integer' }, allOf: manyItems(50) }, Array(100).fill(1)],
    ['allowed values', { type: 'integer', enum: Array.from({ length: 3_000 }, (_, i) => i) }, 3_001],
  ])('with very many %s end the validation of many items', (_, items, item) => {
    const schema = compileSchema(withSpec({ type: 'array', items }))
    const errors = schema.validate({ spec: Array<Value>(800).fill(item) })
    expect(errors.map(printFieldError)).toEqual([
      '<nil>: Forbidden: its validation takes more than 2000000 checks of values by schemas',
    ])
    expect(schema.validate({ spec: [item] }).map(printFieldError)).not.toContainEqual(expect.stringContaining('checks'))
  })

  test('with a long pattern end the validation of a long text', () => {
    const schema = compileSchema(withSpec({ type: 'string', pattern: '(a|b)'.repeat(2_000) }))
    expect(schema.validate({ spec: 'ab'.repeat(25_000) }).map(printFieldError)).toEqual([
      '<nil>: Forbidden: its texts are too long for the patterns of the schema',
    ])
    expect(schema.validate({ spec: 'ab'.repeat(500) })).toHaveLength(1)
  })

  test('with a short pattern take a text as long as an object can be', () => {
    const pattern = '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$'
    const schema = compileSchema(withSpec({ type: 'string', pattern }))
    expect(schema.validate({ spec: 'QUJD'.repeat(375_000) })).toEqual([])
  })

  test('whose errors show a long value are not printed a thousand times to find repeated ones', () => {
    const spec = {
      type: 'array',
      items: { type: 'string' },
      allOf: Array.from({ length: 900 }, (_, i) => ({ enum: [[i]] })),
    }
    const printed = { count: 0 }
    const text = { toString: () => '', toJSON: () => `${printed.count++}` }
    const schema = compileSchema(withSpec(spec))
    expect(schema.validate({ spec: ['x'.repeat(2_000_000), text as unknown as Value] }).length).toBeGreaterThan(900)
    expect(printed.count).toBeLessThan(10)
  })

  test('with a long default for each item of a list do not make a short object huge', () => {
    const properties = { a: { type: 'string', default: 'x'.repeat(100_000) } }
    const schema = compileSchema(withSpec({ type: 'array', items: { type: 'object', properties } }))
    const itemsOf = (count: number): ValueObject => ({ spec: Array.from({ length: count }, () => ({})) })
    expect(() => schema.default(itemsOf(40))).toThrow('defaults add more than 3145728 characters to the object')
    expect(() => schema.default(itemsOf(20))).not.toThrow()
  })

  test('with huge enums answer quickly', () => {
    const values = Array.from({ length: 50_000 }, (_, i) => `value-${i}`)
    const schema = compileSchema(withSpec({ type: 'array', items: { type: 'string', enum: values } }))
    expect(schema.validate({ spec: values })).toEqual([])
  })

  test.each<[string, (below: ValueObject) => ValueObject]>([
    ['objects', below => ({ type: 'object', properties: { ['p'.repeat(500)]: below } })],
    ['objects whose names rules cannot spell', below => ({ type: 'object', properties: { '1': below } })],
    ['lists', below => ({ type: 'array', items: below, maxItems: 1 })],
    ['resources', below => ({ type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: below } })],
    [
      'what is hidden',
      below => ({
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { a: { type: 'object', properties: { a: below } } },
      }),
    ],
  ])('with rules at every depth of %s have each node declared once', (_, around) => {
    const rule = { 'x-kubernetes-validations': [{ rule: 'true' }] }
    const names = Array.from({ length: 2000 }, (_name, i) => [`p${i}`, { type: 'integer' }] as const)
    let schema: ValueObject = { type: 'object', properties: Object.fromEntries(names), ...rule }
    const levels = isHiddenLevel(around) ? 130 : 400
    for (let i = 0; i < levels; i++) schema = { ...around(schema), ...(isHiddenLevel(around) ? {} : rule) }
    expect(checkSchema(withSpec(schema), 'x').errors).toEqual([])
  })

  test('never change the prototype of objects, also where a null has its name', () => {
    const written = decodeJson(
      Buffer.from(
        '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"polluted":{"type":"string","default":"d"}}}}}',
      ),
    ).value as ValueObject
    const schema = compileSchema(withSpec(written))
    const object = decodeJson(Buffer.from('{"spec":{"__proto__":null}}')).value as ValueObject
    try {
      schema.shape(object, { defaults: true })
      expect('polluted' in {}).toBe(false)
    } finally {
      delete (Object.prototype as { polluted?: unknown }).polluted
    }
  })

  test('with names of object methods are looked up as what they are', () => {
    const written = decodeJson(
      Buffer.from(
        '{"type":"object","properties":{"__proto__":{"type":"string","default":"d"},"constructor":{"type":"integer"}}}',
      ),
    ).value as ValueObject
    const schema = compileSchema(withSpec(written))
    const object = decodeJson(Buffer.from('{"spec":{"constructor":"x","toString":1}}')).value as ValueObject
    expect(schema.shape(object).unknown).toEqual(['spec.toString'])
    schema.default(object)
    expect(Object.getOwnPropertyDescriptor(object['spec'], '__proto__')?.value).toBe('d')
    expect(schema.validate(object).map(printFieldError)).toEqual([
      'spec.constructor: Invalid value: "string": spec.constructor in body must be of type integer: "string"',
    ])
    expect(({} as Record<string, unknown>)['d']).toBeUndefined()
  })
})

describe('values', () => {
  test('nested 10,000 deep are pruned, kept, compared and printed', () => {
    const schema = compileSchema({
      type: 'object',
      properties: {
        map: { type: 'object', additionalProperties: true },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
        set: {
          type: 'array',
          items: { 'x-kubernetes-preserve-unknown-fields': true },
          'x-kubernetes-list-type': 'set',
        },
        one: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['a'] },
        text: { type: 'string' },
      },
    })
    const deep = (): Value => nestedLists(9_990, { a: 1 })
    const object: ValueObject = { map: { a: deep() }, free: deep(), set: [deep(), deep()], one: deep(), text: deep() }
    expect(schema.shape(object).unknown).toHaveLength(2)
    schema.default(object)
    const errors = schema.validate(object)
    expect(errors.map(({ type, field }) => `${type} ${field}`)).toEqual([
      'FieldValueNotSupported one',
      'FieldValueTypeInvalid text',
      'FieldValueDuplicate set[1]',
    ])
    for (const error of errors) expect(printFieldError(error).length).toBeGreaterThan(50)
    expect(schema.validateUpdate(object, object).length).toBeLessThan(errors.length)
  })

  test('of 3 MiB of nested lists are answered quickly', () => {
    const text = `[${'[[],[[]],[]],'.repeat(230_000)}0]`
    const list = decodeJson(Buffer.from(text)).value
    const started = performance.now()
    const schema = compileSchema(withSpec({ type: 'array', items: { type: 'string' } }))
    const errors = schema.validate({ spec: list })
    expect(errors).toHaveLength(MAX_FOUND)
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  test('of a default for each of many items are limited', () => {
    const items = {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'string' }, default: ['x', 'y'] } },
    }
    const schema = compileSchema(withSpec({ type: 'array', items }))
    const withItems = (length: number): ValueObject => ({ spec: Array.from({ length }, () => ({})) })
    expect(() => schema.default(withItems(10_000))).not.toThrow()
    expect(() => schema.default(withItems(90_000))).toThrow('Request entity too large')
  })
})
