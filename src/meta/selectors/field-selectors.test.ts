import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  type FieldSelector,
  matchesFields,
  onlyNameAndNamespace,
  onlyTheseFields,
  parseFieldSelector,
  printFieldSelector,
  requiredField,
  supportedFields,
} from './field-selectors.js'

function read(text: string): FieldSelector {
  const selector = parseFieldSelector(text)
  if (!selector.ok) throw new Error(selector.error)
  return selector.value
}

describe('parsing and printing', () => {
  test.each([
    ['', ''],
    [',', ''],
    ['=', ''],
    ['metadata.name=a,', 'metadata.name=a'],
    ['b==2,a!=1', 'a!=1,b=2'],
    ['metadata.name=', 'metadata.name='],
    ['a=x\\,y', 'a=x\\,y'],
    ['a=x\\=y\\\\', 'a=x\\=y\\\\'],
    ['=a', '=a'],
    ['a=b c', 'a=b c'],
  ])('%j becomes %j', (text, canonical) => {
    expect(printFieldSelector(read(text))).toBe(canonical)
  })

  test.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['b=1,a>2', "invalid selector: 'b=1,a>2'; can't understand 'a>2'"],
    ['!metadata.name', "invalid selector: '!metadata.name'; can't understand '!metadata.name'"],
    ['a=x\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=x\\y', 'invalid field selector: invalid escape sequence: \\y'],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ])('%j cannot be read', (text, error) => {
    expect(parseFieldSelector(text)).toEqual({ ok: false, error })
  })

  it('round-trips', () => {
    const field = fc.constantFrom('metadata.name', 'spec.x', 'type')
    const requirement = fc.record({ field, operator: fc.constantFrom('=' as const, '!=' as const), value: fc.string() })
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), selector => {
        const text = printFieldSelector(selector)
        expect(new Set(read(text))).toEqual(new Set(selector))
      }),
    )
  })
})

describe('matching', () => {
  test.each([
    ['', true],
    ['a=1', true],
    ['a!=1', false],
    ['b=', true],
    ['b!=', false],
    ['a=1,b!=x', true],
    ['constructor=', true],
  ])('%j: %s', (text, matched) => {
    expect(matchesFields(read(text), { a: '1' })).toBe(matched)
  })

  it('reports the required value of a field', () => {
    expect(requiredField(read('metadata.name=a,x!=1'), 'metadata.name')).toBe('a')
    expect(requiredField(read('metadata.name!=a'), 'metadata.name')).toBeUndefined()
  })
})

describe('fields that a kind supports', () => {
  it('are those in its list', () => {
    const support = onlyTheseFields(['metadata.name', 'spec.color'])
    expect(supportedFields(read('spec.color=red'), support)).toMatchObject({ ok: true })
    expect(supportedFields(read('metadata.name=a,spec.size=s'), support)).toEqual({
      ok: false,
      error: 'field label not supported: spec.size',
    })
    expect(supportedFields(read('=a'), support)).toMatchObject({ error: 'field label not supported: ' })
  })

  it('may have the kind in the message', () => {
    expect(supportedFields(read('spec.x=1'), onlyTheseFields([], 'Job'))).toMatchObject({
      error: 'field label "spec.x" not supported for Job',
    })
  })

  it('are name and namespace for kinds without their own fields', () => {
    expect(supportedFields(read('metadata.namespace=a'), onlyNameAndNamespace)).toMatchObject({ ok: true })
    expect(supportedFields(read('data.k=1'), onlyNameAndNamespace)).toMatchObject({
      error: '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
    })
  })

  it('may be mapped to another name', () => {
    const renamed = supportedFields(read('a!=1'), (field, value) => ({
      ok: true,
      value: { field: `spec.${field}`, value },
    }))
    expect(renamed).toEqual({ ok: true, value: [{ field: 'spec.a', operator: '!=', value: '1' }] })
  })
})
