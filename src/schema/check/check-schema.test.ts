import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { markGivenEmpty } from '../../meta/values/given-empty.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { checkSchema } from './check-schema.js'
import { readDefaultMetadata } from './default-metadata.js'

const errorsOf = (schema: ValueObject, hasStatus = false): string[] =>
  checkSchema(schema, 'schema', { hasStatus }).errors.map(printFieldError)

const field = (a: ValueObject): ValueObject => ({ type: 'object', properties: { a } })

// Rules that the recordings do not touch; those that they do are replayed.
test.each<[string, ValueObject, string[]]>([
  ['a root without a type', {}, ['schema.type: Required value: must not be empty at the root']],
  [
    'items without a type',
    field({ type: 'array', items: {} }),
    ['schema.properties[a].items.type: Required value: must not be empty for specified array items'],
  ],
  [
    'map values without a type',
    field({ type: 'object', additionalProperties: {} }),
    ['schema.properties[a].additionalProperties.type: Required value: must not be empty for specified object fields'],
  ],
  [
    'a map at the root',
    { type: 'object', additionalProperties: { type: 'string' } },
    ['schema.additionalProperties: Forbidden: must not be used at the root'],
  ],
  [
    'a root that may be null',
    { type: 'object', nullable: true },
    ['schema.nullable: Forbidden: nullable cannot be true at the root'],
  ],
  [
    'a root junctor that speaks of what is not declared',
    { type: 'object', allOf: [{ properties: { b: { enum: ['x'] } } }] },
    ['schema.properties[b]: Required value: because it is defined in schema.allOf[0].properties[b]'],
  ],
  [
    'a default of the wrong type',
    field({ type: 'object', properties: { b: { type: 'integer' } }, default: { b: 'x' } }),
    ['schema.properties[a].default.b: Invalid value: "string": b in body must be of type integer: "string"'],
  ],
  [
    'a default of the wrong type beside int-or-string',
    field({ type: 'integer', 'x-kubernetes-int-or-string': true, default: {} }),
    ['schema.properties[a].default: Invalid value: "object":  in body must be of type integer: "object"'],
  ],
  [
    'a default in embedded metadata that makes none',
    field({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a/b' } } } },
    }),
    [
      'schema.properties[a].properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
    ],
  ],
])('%s is refused', (_, schema, errors) => {
  expect(errorsOf(schema)).toEqual(errors)
})

test('any default fits int-or-string without a type', () => {
  expect(errorsOf(field({ 'x-kubernetes-int-or-string': true, default: {} }))).toEqual([])
})

test('dependencies are refused even if they are given empty', () => {
  const schema: ValueObject = { type: 'object' }
  markGivenEmpty(schema, { dependencies: {} })
  expect(errorsOf(schema)).toEqual(['schema.dependencies: Forbidden: dependencies is not supported'])
})

describe('with a status subresource', () => {
  test('the root may use what says nothing of the status', () => {
    expect(errorsOf({ type: 'object', required: ['spec'], description: 'd' }, true)).toEqual([])
  })

  test('the root may not use what could', () => {
    const [error = ''] = errorsOf({ type: 'object', maxProperties: 9 }, true)
    expect(error).toMatch(/^schema: Invalid value: \{"ID":"","Schema":"","Ref":null,.*"MaxProperties":9,/)
    expect(error).toMatch(
      /XValidations\] fields are allowed at the root of the schema if the status subresource is enabled$/,
    )
  })
})

test('defaults lose what the metadata of embedded resources do not have, and nothing else', () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true }
  const value = () => ({ apiVersion: 'v1', kind: 'X', other: { metadata: { colour: 'red' } } })
  const schema = {
    type: 'object',
    properties: {
      list: { type: 'array', items: embedded, default: [{ ...value(), metadata: { name: 'a', colour: 'red' } }] },
      plain: { type: 'object', default: { ...value(), metadata: { colour: 'red' } } },
      broken: { ...embedded, default: { metadata: 'red' } },
    },
  } satisfies ValueObject
  readDefaultMetadata(schema)
  const { list, plain, broken } = schema.properties
  expect(list.default).toEqual([{ ...value(), metadata: { name: 'a' } }])
  expect(plain.default).toEqual({ ...value(), metadata: { colour: 'red' } })
  expect(broken.default).toEqual({ metadata: 'red' })
})

describe('the rules around a default', () => {
  const withDefault = (value: Value, ...rules: ValueObject[]): string[] =>
    errorsOf(field({ type: 'integer', default: value, 'x-kubernetes-validations': rules }))

  test.each<[string, ValueObject, string[]]>([
    ['hold', { rule: 'self > 0' }, []],
    ['are broken', { rule: 'self > 1' }, ['schema.properties[a].default: Invalid value: 1: failed rule: self > 1']],
    ['take it for what was there before', { rule: 'self == oldSelf' }, []],
    [
      'see nothing before where they ask for it',
      { rule: 'oldSelf.hasValue()', optionalOldSelf: true, message: 'was nothing' },
      ['schema.properties[a].default: Invalid value: 1: was nothing'],
    ],
  ])('%s', (_, rule, expected) => expect(withDefault(1, rule)).toEqual(expected))

  test('are compiled only once the default is right', () => {
    expect(withDefault('x', { rule: 'nonsense' })).toEqual([
      'schema.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
    ])
  })
})
