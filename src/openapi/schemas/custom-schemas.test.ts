import { describe, expect, it } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { publishedType } from '../openapi.suite.js'
import { customDefinitions } from './custom-schemas.js'
import { V2, V3 } from './dialect.js'

const WIDGET = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  selectableFields: [],
}

/** The published form of a property with that schema, in version 3 and in version 2. */
function published(schema: ValueObject): { v3: unknown; v2: unknown } {
  const root = { type: 'object', properties: { x: schema } }
  const [v3, v2] = [V3, V2].map(dialect => {
    const { json } = customDefinitions({ ...WIDGET, type: publishedType({ written: () => root }) }, dialect).get(
      'com.example.v1.Widget',
    )!
    return (JSON.parse(json.toString()) as { properties: { x: unknown } }).properties.x
  })
  return { v3, v2 }
}

describe('both versions', () => {
  it.each<ValueObject>([
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } }, required: ['k'] },
      'x-kubernetes-list-map-keys': ['k'],
      'x-kubernetes-list-type': 'map',
    },
    { type: 'object', additionalProperties: { type: 'integer' }, 'x-kubernetes-map-type': 'atomic' },
    { type: 'string', 'x-kubernetes-validations': [{ rule: "self != ''", message: 'not empty' }] },
    { type: 'object', additionalProperties: true },
    { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') as ValueObject },
  ])('publish %j as it is', schema => {
    expect(published(schema)).toEqual({ v3: schema, v2: schema })
  })

  it('omit empty keywords', () => {
    const empty = { type: 'string', nullable: false, uniqueItems: false, description: '', pattern: '', enum: [] }
    expect(published(empty)).toEqual({ v3: { type: 'string' }, v2: { type: 'string' } })
  })
})

describe('version 2', () => {
  it.each<[string, ValueObject, ValueObject]>([
    [
      'does not require what may be null',
      {
        type: 'object',
        properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
        required: ['a', 'b'],
      },
      { type: 'object', properties: { a: {}, b: { type: 'string' } }, required: ['b'] },
    ],
    [
      'requires nothing where all of it may be null',
      { type: 'object', properties: { a: { type: 'string', nullable: true } }, required: ['a'] },
      { type: 'object', properties: { a: {} } },
    ],
    [
      'keeps the values of a map that preserves unknown fields',
      {
        type: 'object',
        additionalProperties: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
      { type: 'object', additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true } },
    ],
    [
      'knows no array without items',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      'drops defaults, but not from examples',
      { type: 'object', default: { a: 1 }, example: { default: 1 } },
      { type: 'object', example: { default: 1 } },
    ],
  ])('%s', (_, schema, expected) => {
    expect(published(schema)).toEqual({ v3: schema, v2: expected })
  })
})

describe('integers or strings', () => {
  const either = [{ type: 'integer' }, { type: 'string' }]

  it('with other alternatives keep both', () => {
    const schema = { 'x-kubernetes-int-or-string': true, anyOf: [{ minimum: 1 }, { pattern: '%$' }] }
    expect(published(schema).v3).toEqual({ ...schema, allOf: [{ anyOf: either }] })
  })
})

it('an integer keeps all its digits', () => {
  const schema = { type: 'integer', default: 9007199254740993n }
  const all = customDefinitions({ ...WIDGET, type: publishedType({ written: () => schema }) }, V3)
  expect(all.get('com.example.v1.Widget')!.json.toString()).toContain('"default":9007199254740993')
})
