import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalValues, type Value, WholeFloat } from '../../meta/values/value.js'
import { decodeJson } from '../json/decode.js'
import { encodeJson } from '../json/encode.js'
import { anyValue } from '../values.suite.js'
import { decodeYaml } from './decode.js'
import { encodeYaml } from './encode.js'

describe('scalars', () => {
  it.each<[Value, string]>([
    [null, 'null'],
    [true, 'true'],
    [1, '1'],
    [-9223372036854775808n, '-9223372036854775808'],
    [1.5, '1.5'],
    [0.00001, '1e-05'],
    [1234567.5, '1.2345675e+06'],
    [new WholeFloat(1), '1'],
    [new WholeFloat(1e20), '1e+20'],
    [new WholeFloat(1e21), '1e+21'],
    [new WholeFloat(2 ** 63), '9223372036854776000'],
    ['text', 'text'],
    ['', '""'],
    ['yes', '"yes"'],
    ['n', '"n"'],
    ['~', '"~"'],
    ['010', '"010"'],
    ['1_000', '"1_000"'],
    ['0x', '0x'],
    ['.inf', '".inf"'],
    ['2001-01-01', '"2001-01-01"'],
    ['2001-13-01', '2001-13-01'],
    ['2024-01-01T00:00:00Z', '"2024-01-01T00:00:00Z"'],
    ['12:30', '"12:30"'],
    ['1.2.3', '1.2.3'],
    [' lead', "' lead'"],
    ['trail ', "'trail '"],
    ['a: b', "'a: b'"],
    ['a:b', 'a:b'],
    ['a:', "'a:'"],
    ['a #b', "'a #b'"],
    ['a#b', 'a#b'],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ['-', "'-'"],
    ['?x', '?x'],
    ['*', "'*'"],
    ["it's", "it's"],
    ["'", "''''"],
    ['"x"', '\'"x"\''],
    ['%x', "'%x'"],
    ['---', "'---'"],
    ['a, b [c]', 'a, b [c]'],
    ['tab\there', '"tab\\there"'],
    ['😀', '"\\U0001F600"'],
    ['é', 'é'],
    ['\u0007', '"\\a"'],
    ['\u0080', '"\\x80"'],
    ['\ufeff', '"\\uFEFF"'],
    ['<<', '"<<"'],
    ['=', '='],
    ['a\\b', 'a\\b'],
  ])('prints %s', (value, text) => {
    expect(encodeYaml(value)).toBe(`${text}\n`)
    expect(encodeYaml({ key: value })).toBe(`key: ${text}\n`)
  })

  it.each([
    ['one\ntwo\n', '|\n  one\n  two\n'],
    ['one\ntwo', '|-\n  one\n  two\n'],
    ['one\n\n', '|+\n  one\n\n'],
    [' one\n', '|2\n   one\n'],
    ['\n', '|2+\n\n'],
    ['a\n\n  b\n', '|\n  a\n\n    b\n'],
    ['a \nb', '"a \\nb"\n'],
    ['a\n ', '"a\\n "\n'],
    ['a\tb\nc', '"a\\tb\\nc"\n'],
  ])('prints the lines %j', (text, expected) => {
    expect(encodeYaml({ key: text })).toBe(`key: ${expected}`)
  })

  it('folds after 80 columns, where there is one space', () => {
    const words = 'word '.repeat(30).trim()
    expect(encodeYaml({ key: words })).toBe(`key: ${'word '.repeat(16).trim()}\n  ${'word '.repeat(14).trim()}\n`)
    expect(encodeYaml({ key: `${'x'.repeat(100)}  y z` })).toBe(`key: ${'x'.repeat(100)}  y\n  z\n`)
    expect(encodeYaml({ key: `${words}: x` })).toBe(
      `key: '${'word '.repeat(16).trim()}\n  ${'word '.repeat(14).trim()}: x'\n`,
    )
    expect(encodeYaml({ key: `\t${'x'.repeat(100)}  y` })).toBe(`key: "\\t${'x'.repeat(100)}\n  \\ y"\n`)
  })
})

describe('lists and maps', () => {
  it.each<[Value, string]>([
    [{}, '{}\n'],
    [[], '[]\n'],
    [{ a: {}, b: [] }, 'a: {}\nb: []\n'],
    [{ b: 1, a: { d: [1, 2], c: null } }, 'a:\n  c: null\n  d:\n  - 1\n  - 2\nb: 1\n'],
    [[1, [2, [3]], { a: 1, b: [4] }], '- 1\n- - 2\n  - - 3\n- a: 1\n  b:\n  - 4\n'],
    [[{ a: { b: 1 } }], '- a:\n    b: 1\n'],
    [{ a: [{ x: 'l\nm' }] }, 'a:\n- x: |-\n    l\n    m\n'],
    [{ '': 1, yes: 2, 'a: b': 3 }, '"": 1\n\'a: b\': 3\n"yes": 2\n'],
    [{ 'a\nb': 1 }, '? |-\n  a\n  b\n: 1\n'],
    [{ ['k'.repeat(129)]: [1] }, `? ${'k'.repeat(129)}\n: - 1\n`],
  ])('prints %j', (value, text) => {
    expect(encodeYaml(value)).toBe(text)
  })

  it('prints keys in natural order', () => {
    const keys = ['a10', 'a2', 'B', 'a', 'b', '1', '10', '2', 'a.b', 'a_b', 'a-1', 'a01', 'a1']
    const printed = encodeYaml(Object.fromEntries(keys.map(key => [`k${key}`, 0])))
    expect(printed.match(/^k[^:]+/gm)).toEqual(
      ['1', '2', '10', 'B', 'a', 'a-1', 'a.b', 'a_b', 'a1', 'a01', 'a2', 'a10', 'b'].map(key => `k${key}`),
    )
  })

  it('prints a Status as Kubernetes does', () => {
    const message =
      'Widget.errors-follow-accept.negotiation.example.com "A!" is invalid: metadata.name: Invalid value: "A!": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' or \'.\''
    expect(encodeYaml({ kind: 'Status', apiVersion: 'v1', metadata: {}, message, code: 422 })).toBe(
      `apiVersion: v1
code: 422
kind: Status
message: 'Widget.errors-follow-accept.negotiation.example.com "A!" is invalid: metadata.name:
  Invalid value: "A!": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric
  characters, ''-'' or ''.'''
metadata: {}
`,
    )
  })

  it('encodes deep nesting', () => {
    const deep = decodeJson(Buffer.from('['.repeat(1000) + ']'.repeat(1000))).value
    expect(decodeYaml(Buffer.from(encodeYaml(deep))).value).toEqual(deep)
  })
})

it('round-trips every value, apart from whole floats', () => {
  fc.assert(
    fc.property(anyValue(), value => {
      const json = decodeJson(Buffer.from(encodeJson(value))).value
      expect(equalValues(decodeYaml(Buffer.from(encodeYaml(value))).value, json)).toBe(true)
    }),
    { numRuns: 500 },
  )
})
