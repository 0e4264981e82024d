import { describe, expect, test } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { Type } from '../../types/type.js'
import { builtinTypes } from '../../types/type-table.js'
import { parseSchema } from './structural.js'
import { structuralType } from './structural-type.js'

const types = builtinTypes()

const typeOf = (written: ValueObject, preserveUnknownFields = false): Type =>
  structuralType(types, { schema: () => parseSchema(written), written: () => written, preserveUnknownFields })

const spec = (written: ValueObject): Type =>
  typeOf({ type: 'object', properties: { spec: written } }).fields.get('spec')!.type

describe('the type of a custom resource', () => {
  test('has apiVersion, kind and metadata, whatever the schema says of them', () => {
    const type = typeOf({ type: 'object', properties: { metadata: { type: 'string' }, spec: { type: 'object' } } })
    expect([...type.fields.keys()]).toEqual(['kind', 'apiVersion', 'metadata', 'spec'])
    expect(type.fields.get('metadata')!.type).toBe(types.byName('meta/v1.ObjectMeta'))
    expect(type).toMatchObject({ kind: 'object', dialect: 'structural', unknownFields: 'drop' })
    expect(type.additional).toBeUndefined()
  })

  test('is not looked into before it is needed', () => {
    const untouched = (): never => {
      throw new Error('it was read')
    }
    const type = structuralType(types, { schema: untouched, written: untouched })
    expect(() => type.kind).toThrow('it was read')
  })

  test('has members of any type if there is no schema', () => {
    const type = structuralType(types, { schema: () => undefined, written: () => undefined })
    expect(type.fields.size).toBe(0)
    expect(type.additional).toBe(types.any)
  })
})

describe('a part of it', () => {
  test.each<[ValueObject, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'boolean' }, 'bool'],
    [{ type: 'integer' }, 'int64'],
    [{ type: 'number' }, 'float64'],
    [{ type: 'array', items: { type: 'string' } }, 'list'],
    [{ type: 'object' }, 'object'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'map'],
    [{ 'x-kubernetes-int-or-string': true }, 'special'],
    [{ 'x-kubernetes-preserve-unknown-fields': true }, 'any'],
  ])('%j is of kind %s', (written, kind) => {
    expect(spec(written).kind).toBe(kind)
  })

  test('is the same type each time', () => {
    const list = spec({ type: 'array', items: { type: 'string' } })
    expect(list.element).toBe(list.element)
  })

  test('keeps what its fields are by default, and whether they are required', () => {
    const type = spec({ type: 'object', required: ['a'], properties: { a: { type: 'string', default: 'x' } } })
    expect(type.fields.get('a')).toMatchObject({ name: 'a', default: 'x', required: true })
  })

  test('lets everything below it have unknown fields once it keeps them itself', () => {
    const inner: Value = { type: 'object', properties: { a: { type: 'string' } } }
    const kept = spec({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { inner } })
    expect(kept.fields.get('inner')!.type.additional).toBe(types.any)
    expect(kept.fields.get('inner')!.type.unknownFields).toBe('drop')
  })
})
