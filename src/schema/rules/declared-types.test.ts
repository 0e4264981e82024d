import { describe, expect, it, test } from 'vitest'
import { printType } from '../../cel/index.js'
import type { ValueObject } from '../../meta/values/value.js'
import { declareTypes, escapeName, fieldOf } from '../../types/cel-types.js'
import { builtinTypes } from '../../types/type-table.js'
import { parseSchema } from '../structure/structural.js'
import { partType } from '../structure/structural-type.js'

const types = builtinTypes()
const declare = (schema: ValueObject, isResource = false) =>
  declareTypes(partType(types, parseSchema(schema)), { isResource })
const root = (schema: ValueObject, isResource = false) => declare(schema, isResource)!.root

const HIDDEN = { 'x-kubernetes-preserve-unknown-fields': true }
const MAX_TEXT = 3 * 1024 * 1024 - 2

test.each<[type: string, maxSize: number, minBytes: number, schema: ValueObject]>([
  ['bool', 0, 4, { type: 'boolean' }],
  ['int', 0, 1, { type: 'integer', format: 'int32' }],
  ['double', 0, 1, { type: 'number' }],
  ['dyn', MAX_TEXT, 1, { 'x-kubernetes-int-or-string': true }],
  ['dyn', 40, 1, { 'x-kubernetes-int-or-string': true, maxLength: 10 }],
  ['string', MAX_TEXT, 2, { type: 'string' }],
  ['string', MAX_TEXT, 2, { type: 'string', nullable: true, format: 'uuid' }],
  ['string', 40, 2, { type: 'string', maxLength: 10 }],
  ['string', 3, 2, { type: 'string', enum: ['a', 'abc'] }],
  ['bytes', 10, 2, { type: 'string', format: 'byte', maxLength: 10 }],
  ['duration', 32, 3, { type: 'string', format: 'duration' }],
  ['timestamp', 12, 12, { type: 'string', format: 'date' }],
  ['timestamp', 32, 21, { type: 'string', format: 'date-time' }],
  ['list(int)', 5, 2, { type: 'array', items: { type: 'integer' }, maxItems: 5 }],
  ['list(int)', 1572863, 2, { type: 'array', items: { type: 'integer' } }],
  ['map(string, bool)', 314572, 2, { type: 'object', additionalProperties: { type: 'boolean' } }],
  [
    'map(string, list(string))',
    5,
    2,
    {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      maxProperties: 5,
    },
  ],
])('%s of size %d and at least %d bytes for case %#', (type, maxSize, minBytes, schema) => {
  const declared = root(schema)
  expect({ type: printType(declared.celType), maxSize: declared.maxSize, minBytes: declared.minBytes }).toEqual({
    type,
    maxSize,
    minBytes,
  })
})

test.each<[string, ValueObject]>([
  ['a value without a type', HIDDEN],
  ['a list of them', { type: 'array', items: HIDDEN }],
  ['a map of lists of them', { type: 'object', additionalProperties: { type: 'array', items: HIDDEN } }],
])('%s is hidden', (_, schema) => {
  expect(declare(schema)).toBeUndefined()
  expect([...root({ type: 'object', properties: { seen: { type: 'string' }, unseen: schema } }).fields.keys()]).toEqual(
    ['seen'],
  )
})

describe('an object', () => {
  it('takes up what its required properties take up, unless they have defaults', () => {
    const properties = { ab: { type: 'integer' }, cd: { type: 'integer', default: 1 }, ef: { type: 'string' } }
    expect(root({ type: 'object', properties, required: ['ab', 'cd'] }).minBytes).toBe(2 + 2 + 1 + 4)
  })

  it('has fields by their escaped names, and by reserved words as they are', () => {
    const { root: object, objectTypes } = declare({
      type: 'object',
      properties: { 'a-b': { type: 'integer' }, namespace: { type: 'string' }, '1x': { type: 'boolean' } },
    })!
    expect(fieldOf(object, 'a__dash__b')?.property).toBe('a-b')
    expect(fieldOf(object, 'namespace')).toBe(fieldOf(object, '__namespace__'))
    expect(objectTypes.field(object.celType.name, 'namespace')?.name).toBe('string')
    expect(object.unnamed.get('1x')?.kind).toBe('bool')
  })

  it('that is a resource has its type and names, whatever its schema says of them', () => {
    const properties = { metadata: { type: 'object', properties: { labels: { type: 'object' } } } }
    const resource = root({ type: 'object', properties }, true)
    expect([...resource.fields.keys()].toSorted()).toEqual(['apiVersion', 'kind', 'metadata'])
    expect([...resource.fields.get('metadata')!.declared.fields.keys()]).toEqual(['name', 'generateName'])
    const embedded = root({ type: 'array', items: { type: 'object', 'x-kubernetes-embedded-resource': true } })
    expect(embedded.element?.fields.has('kind')).toBe(true)
  })

  it('has a name of a bounded length however deep it stands', () => {
    let schema: ValueObject = { type: 'object' }
    for (let i = 0; i < 700; i++) schema = { type: 'object', properties: { ['p'.repeat(100)]: schema } }
    let declared = root(schema)
    for (let next = declared; ; next = [...next.fields.values()][0]!.declared) {
      expect(next.celType.name.length).toBeLessThan(400)
      declared = next
      if (next.fields.size === 0) break
    }
    expect(declared.kind).toBe('object')
  })
})

test.each([
  ['plain', 'plain'],
  ['_a1', '_a1'],
  ['a.b-c/d', 'a__dot__b__dash__c__slash__d'],
  ['a__b', 'a__underscores__b'],
  ['___', '__underscores___'],
  ['in', '__in__'],
  ['int', 'int'],
  ['', undefined],
  ['1a', undefined],
  ['a b', undefined],
  ['ä', undefined],
])('rules spell %j as %j', (name, spelled) => {
  expect(escapeName(name)).toBe(spelled)
})
