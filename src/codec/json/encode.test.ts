import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalValues, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { anyValue } from '../values.suite.js'
import { decodeJson, parseNumber } from './decode.js'
import { encodeJson } from './encode.js'

describe('numbers', () => {
  it.each<[Value, string]>([
    [0, '0'],
    [-1, '-1'],
    [9223372036854775807n, '9223372036854775807'],
    [1.5, '1.5'],
    [0.000001, '0.000001'],
    [1e-7, '1e-7'],
    [1.5e-9, '1.5e-9'],
    [new WholeFloat(1), '1'],
    [new WholeFloat(1e20), '100000000000000000000'],
    [new WholeFloat(1e21), '1e+21'],
    [new WholeFloat(2 ** 63), '9223372036854776000'],
    [new WholeFloat(1e308), '1e+308'],
    [new WholeFloat(-0), '-0'],
  ])('prints %s as %s', (number, text) => {
    expect(encodeJson(number)).toBe(text)
  })

  it('refuses values that JSON does not have', () => {
    expect(() => encodeJson(Number.NaN)).toThrow('json: unsupported value: NaN')
  })
})

describe('texts', () => {
  it.each([
    ['plain', '"plain"'],
    ['a"b\\c/', '"a\\"b\\\\c/"'],
    ['\n\r\t\b\f\u0000\u001f\u007f', '"\\n\\r\\t\\b\\f\\u0000\\u001f\u007f"'],
    ['<a href="x">&</a>', '"\\u003ca href=\\"x\\"\\u003e\\u0026\\u003c/a\\u003e"'],
    ['\u2028\u2029', '"\\u2028\\u2029"'],
    ['é😀', '"é😀"'],
    ['\ud83d', '"\ufffd"'],
  ])('prints %j', (text, expected) => {
    expect(encodeJson(text)).toBe(expected)
    expect(encodeJson({ [text]: null })).toBe(`{${expected}:null}`)
    const long = 'x'.repeat(200)
    expect(encodeJson({ long, text })).toBe(`{"long":"${long}","text":${expected}}`)
  })
})

describe('lists and objects', () => {
  it('prints them compactly, in the order of the object', () => {
    const value: Value = { kind: 'A', apiVersion: 'v1', list: [1, [], {}, null, true], empty: {} }
    expect(encodeJson(value)).toBe('{"kind":"A","apiVersion":"v1","list":[1,[],{},null,true],"empty":{}}')
  })

  it('sorts members by their bytes on request', () => {
    const value: Value = { b: 1, '\ue000': 2, '😀': 3, a: { d: 1, c: 2 }, A: 4 }
    expect(encodeJson(value, { sortKeys: true })).toBe('{"A":4,"a":{"c":2,"d":1},"b":1,"\ue000":2,"😀":3}')
  })

  it('indents by two spaces, and leaves empty ones closed', () => {
    const value: Value = { kind: 'Status', metadata: {}, list: [], nested: [{ a: 1 }, [2, 'x']] }
    expect(encodeJson(value, { pretty: true })).toBe(JSON.stringify(value, null, 2))
    expect(encodeJson({}, { pretty: true })).toBe('{}')
    expect(encodeJson('x', { pretty: true })).toBe('"x"')
  })

  it('prints __proto__ as any other member', () => {
    const object: ValueObject = {}
    setOwn(object, '__proto__', 1)
    expect(encodeJson(object)).toBe('{"__proto__":1}')
  })

  it('encodes deep nesting', () => {
    const text = '[{"a":'.repeat(5000) + '1' + '}]'.repeat(5000)
    expect(encodeJson(decodeJson(Buffer.from(text)).value)).toBe(text)
  })
})

it('round-trips decoded values; a whole float becomes the integer that it prints as', () => {
  fc.assert(
    fc.property(anyValue(), fc.boolean(), (value, pretty) => {
      const again = decodeJson(Buffer.from(encodeJson(value, { pretty }))).value
      expect(equalValues(again, withoutWholeFloats(value))).toBe(true)
    }),
  )
})

function withoutWholeFloats(value: Value): Value {
  if (value instanceof WholeFloat) return parseNumber(String(value.value))!
  if (Array.isArray(value)) return value.map(withoutWholeFloats)
  if (!isObject(value)) return value
  const object: ValueObject = {}
  for (const key of Object.keys(value)) setOwn(object, key, withoutWholeFloats(value[key]!))
  return object
}

it('prints plain values as JSON.stringify does, apart from the escapes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), plain => {
      const value = decodeJson(Buffer.from(JSON.stringify(plain))).value
      expect(JSON.parse(encodeJson(value))).toEqual(JSON.parse(JSON.stringify(plain)))
    }),
  )
})
