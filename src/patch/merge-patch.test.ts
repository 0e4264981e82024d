import { describe, expect, test } from 'vitest'
import type { Value, ValueObject } from '../meta/values/value.js'
import { notJson } from './field-validation.js'
import { applyMergePatch, mergePatchInItsOrder, parseMergePatch } from './merge-patch.js'

describe('applying', () => {
  // The examples of RFC 7386, appendix A, whose target and patch are objects.
  test.each<[ValueObject, ValueObject, Value]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j', (object, patch, expected) => {
    expect(applyMergePatch(object, patch)).toEqual(expected)
  })

  // Where the reference goes further than the RFC.
  test.each<[string, ValueObject, ValueObject, Value]>([
    ['nulls in objects within a new list go', {}, { a: [{ b: null }, null] }, { a: [{}, null] }],
    ['so they do in a list that replaces a list', { a: [1] }, { a: [[{ b: null }]] }, { a: [[{}]] }],
    ['but not in a list that replaces an object', { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
    ['a stored null counts as missing', { a: null }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ])('%s', (_, object, patch, expected) => {
    expect(applyMergePatch(object, patch)).toEqual(expected)
  })

  test('names that JavaScript objects have already are ordinary', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"a":1},"toString":null}') as ValueObject
    const result = applyMergePatch({ x: 1 }, patch)
    expect(JSON.stringify(result)).toBe('{"x":1,"__proto__":{"polluted":true},"constructor":{"a":1}}')
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(JSON.stringify(applyMergePatch(result, JSON.parse('{"__proto__":{"b":1}}') as ValueObject))).toContain(
      '"__proto__":{"polluted":true,"b":1}',
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('objects 10,000 levels deep merge', () => {
    let object: ValueObject = {}
    let patch: ValueObject = { x: 1 }
    for (let i = 1; i < 10_000; i++) [object, patch] = [{ a: object }, { a: patch }]
    let result = applyMergePatch(object, patch) as ValueObject
    while (result['a'] !== undefined) result = result['a'] as ValueObject
    expect(result).toEqual({ x: 1 })
  })

  test('a member may be shared with the value, but only if the patch does not have it', () => {
    const value = { metadata: { labels: { a: 'b' } }, spec: { a: 1 } }
    const same = applyMergePatch(value, { spec: { a: 2 } }, 'metadata') as typeof value
    expect(same).toEqual({ metadata: { labels: { a: 'b' } }, spec: { a: 2 } })
    expect(same.metadata).toBe(value.metadata)
    expect(applyMergePatch(value, { metadata: { labels: { a: 'c' } } }, 'metadata')).toEqual({
      metadata: { labels: { a: 'c' } },
      spec: { a: 1 },
    })
    expect(value).toEqual({ metadata: { labels: { a: 'b' } }, spec: { a: 1 } })
  })
})

test('kube-apiserver sorts the members of the objects that are in both, and of added ones', () => {
  const value = { b: { d: 1, c: { z: 1, y: 1 } }, a: { z: 1, y: 1 } }
  const patch = { b: { c: [{ z: 1, y: 1 }], x: [{ z: 1, y: null, a: 1 }] } }
  const text = '{"a":{"z":1,"y":1},"b":{"c":[{"z":1,"y":1}],"d":1,"x":[{"a":1,"z":1}]}}'
  expect(JSON.stringify(mergePatchInItsOrder(value, patch))).toBe(text)
})

describe('reading', () => {
  const decoding = (type: string): string =>
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`

  test.each<[Value, string]>([
    [[], decoding('array')],
    ['text', decoding('string')],
    [5, decoding('number')],
    [true, decoding('bool')],
    [null, 'Invalid JSON Patch'],
  ])('refuses %j', (body, message) => {
    expect(() => parseMergePatch(body)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest', message }))
  })

  test('where fields are ignored, a list replaces the object and scalars are refused in other words', () => {
    expect(applyMergePatch({ a: 1 }, parseMergePatch([{ b: null }], 'Ignore'))).toEqual([{}])
    expect(() => parseMergePatch(5, 'Ignore')).toThrow(expect.objectContaining({ message: 'Invalid JSON Patch' }))
  })

  test('text that is no JSON is answered by the decoder that met it first', () => {
    const text = 'unexpected end of JSON input'
    expect(notJson('json', text).message).toBe(`error decoding patch: ${text}`)
    expect(notJson('merge', text, 'Strict').message).toBe(`error decoding patch: ${text}`)
    expect(notJson('strategic', text).message).toBe(text)
    expect(notJson('json', text, 'Ignore').message).toBe(text)
    expect(notJson('merge', text, 'Ignore').message).toBe('Invalid JSON Patch')
  })
})
