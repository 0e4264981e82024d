import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { customMergeType } from '../custom-merge-type.suite.js'
import {
  fieldElement,
  indexElement,
  keyElement,
  parseElement,
  printPath,
  sortElements,
  valueElement,
} from './field-path.js'
import {
  difference,
  EMPTY,
  equalSets,
  type FieldSet,
  fieldSet,
  hasPath,
  intersection,
  leaves,
  pathsOf,
  recursiveDifference,
  union,
  withDeclaredFields,
} from './field-set.js'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.js'

const element = fc.constantFrom(
  fieldElement('a'),
  fieldElement('b'),
  fieldElement('__proto__'),
  fieldElement('.'),
  keyElement([['name', 'x']]),
  keyElement([
    ['port', 80],
    ['protocol', 'TCP'],
  ]),
  valueElement('x'),
  valueElement(1),
  indexElement(0),
)
const path = fc.array(element, { minLength: 1, maxLength: 4 })
const set: fc.Arbitrary<FieldSet> = fc.array(path, { maxLength: 12 }).map(paths => fieldSet(...paths))

const members = (fields: FieldSet): string[] => [...pathsOf(fields)].map(steps => JSON.stringify(steps)).toSorted()

describe('sets of fields', () => {
  test('hold the laws of sets, member by member', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [inA, inB] = [new Set(members(a)), new Set(members(b))]
        expect(members(union(a, b))).toEqual([...new Set([...inA, ...inB])].toSorted())
        expect(members(difference(a, b))).toEqual([...inA].filter(member => !inB.has(member)))
        expect(members(intersection(a, b))).toEqual([...inA].filter(member => inB.has(member)))
      }),
    )
  })

  test('union and intersection do not mind the order; difference undoes what is shared', () => {
    fc.assert(
      fc.property(set, set, set, (a, b, c) => {
        expect(equalSets(union(a, b), union(b, a))).toBe(true)
        expect(equalSets(intersection(a, b), intersection(b, a))).toBe(true)
        expect(equalSets(union(a, union(b, c)), union(union(a, b), c))).toBe(true)
        expect(equalSets(union(difference(a, b), intersection(a, b)), a)).toBe(true)
        expect(equalSets(intersection(difference(a, b), b), EMPTY)).toBe(true)
      }),
    )
  })

  test('an operation that changes nothing gives back the very set', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(union(a, a)).toBe(a)
        expect(union(a, intersection(a, b))).toBe(a)
        expect(difference(a, difference(b, a))).toBe(a)
      }),
    )
  })

  test('a recursive difference takes all that is below with it', () => {
    const all = fieldSet(['f:a'], ['f:a', 'f:b'], ['f:c'])
    expect(members(recursiveDifference(all, fieldSet(['f:a'])))).toEqual(['["f:c"]'])
    expect(members(difference(all, fieldSet(['f:a'])))).toEqual(['["f:a","f:b"]', '["f:c"]'])
  })

  test('leaves are the members with none below', () => {
    const all = fieldSet(['f:a'], ['f:a', 'f:b'], ['f:c'])
    expect(members(leaves(all))).toEqual(['["f:a","f:b"]', '["f:c"]'])
  })

  test('paths come with those of a level before those below it', () => {
    const all = fieldSet(['f:o', 'f:in', 'f:p'], ['f:o', 'f:x'], ['f:z'], ['f:a'])
    expect([...pathsOf(all)].map(printPath)).toEqual(['.a', '.z', '.o.x', '.o.in.p'])
    expect(hasPath(all, ['f:o'])).toBe(false)
    expect(hasPath(all, ['f:o', 'f:x'])).toBe(true)
  })

  test('declared fields on the way become members, others do not', () => {
    const schema = customMergeType({
      type: 'object',
      properties: { spec: { type: 'object', additionalProperties: { type: 'object' } } },
    })
    const owned = withDeclaredFields(fieldSet(['f:spec', 'f:any', 'f:x']), schema)
    expect(members(owned)).toEqual(['["f:spec","f:any","f:x"]', '["f:spec"]'])
  })
})

describe('FieldsV1', () => {
  test('what is written is read back', () => {
    fc.assert(
      fc.property(set, fields => {
        const encoded = encodeFieldsV1(fields)
        expect(equalSets(decodeFieldsV1(encoded)!, fields)).toBe(true)
        expect(encodeFieldsV1(decodeFieldsV1(JSON.parse(JSON.stringify(encoded)))!)).toEqual(encoded)
      }),
    )
  })

  test.each([
    ['a member', fieldSet(['f:a']), '{"f:a":{}}'],
    ['a member with another below', fieldSet(['f:a'], ['f:a', 'f:b']), '{"f:a":{".":{},"f:b":{}}}'],
    ['only what is below', fieldSet(['f:a', 'f:b']), '{"f:a":{"f:b":{}}}'],
    [
      'steps in order',
      fieldSet(['i:1'], ['v:"b"'], ['v:2'], ['k:{"n":"a"}'], ['f:z'], ['f:a']),
      '{"f:a":{},"f:z":{},"k:{\\"n\\":\\"a\\"}":{},"v:2":{},"v:\\"b\\"":{},"i:1":{}}',
    ],
  ])('%s', (_, fields, text) => {
    expect(JSON.stringify(encodeFieldsV1(fields))).toBe(text)
  })

  test.each(['bogus', 'k:[]', 'k:{', 'v:', 'i:x', 'q:1', ''])('no step: %s', key => {
    expect(parseElement(key)).toBeUndefined()
    expect(decodeFieldsV1({ [key]: {} })).toBeUndefined()
  })

  test('steps are read however they are spelled', () => {
    expect(parseElement('k:{ "b" : 1.0, "a": "\\u0041"}')).toBe('k:{"a":"A","b":1}')
    expect(parseElement('v:1.0')).toBe('v:1')
    expect(parseElement('i:007')).toBe('i:7')
    expect(members(decodeFieldsV1({ 'f:a': { '.': {} } })!)).toEqual(['["f:a"]'])
  })

  test('no fields are no members; other values are no fields', () => {
    expect(decodeFieldsV1(null)).toBe(EMPTY)
    expect(decodeFieldsV1({})?.size).toBe(0)
    expect(decodeFieldsV1('text')).toBeUndefined()
    expect(decodeFieldsV1({ 'f:a': 1 })).toBeUndefined()
  })
})

describe('steps', () => {
  test.each([
    ['.a.b', ['f:a', 'f:b']],
    ['.l[name="x"].v', ['f:l', 'k:{"name":"x"}', 'f:v']],
    ['.l[port=80,protocol="TCP"]', ['f:l', 'k:{"port":80,"protocol":"TCP"}']],
    ['.l[="x"]', ['f:l', 'v:"x"']],
    ['.l[=true]', ['f:l', 'v:true']],
    ['.l[3]', ['f:l', 'i:3']],
    ['.l[name=x=1]', ['f:l', 'k:{"name":{"x":1}}']],
  ])('%s', (text, steps) => {
    expect(printPath(steps)).toBe(text)
  })

  test('are sorted by what they hold', () => {
    const steps = ['v:"10"', 'v:"9"', 'v:10', 'v:9', 'v:true', 'v:false', 'f:b', 'f:a', 'i:10', 'i:9']
    const sorted = ['f:a', 'f:b', 'v:9', 'v:10', 'v:"10"', 'v:"9"', 'v:false', 'v:true', 'i:9', 'i:10']
    expect(sortElements(steps)).toEqual(sorted)
  })
})
