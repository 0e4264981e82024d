import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalValues, type Value, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import { encodeJson } from '../json/encode.js'
import { anyValue } from '../values.suite.js'
import { decodeText, decodeYaml } from './decode.js'
import { readYamlText } from './reader.js'
import { readYamlAsJson } from './to-json.js'

const decode = (text: string) => decodeYaml(Buffer.from(text))
const value = (text: string): Value => decode(text).value
const failure = (input: string | Uint8Array): string => {
  try {
    decodeYaml(typeof input === 'string' ? Buffer.from(input) : input)
  } catch (error) {
    if (error instanceof CodecError) return error.message
    throw error
  }
  throw new Error(`decoded: ${String(input)}`)
}

describe('plain scalars', () => {
  it.each<[string, Value]>([
    ['yes', true],
    ['Off', false],
    ['y', true],
    ['N', false],
    ['yEs', 'yEs'],
    ['NULL', null],
    ['~', null],
    ['nUll', 'nUll'],
    ['1', 1],
    ['+1', 1],
    ['-0', 0],
    ['1.0', 1],
    ['1.', 1],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['1e3', 1000],
    ['1e21', new WholeFloat(1e21)],
    ['1e400', '1e400'],
    ['0x10', 16],
    ['-0x10', -16],
    ['010', 8],
    ['08', 8],
    ['0o10', 8],
    ['0b11', 3],
    ['1_000', 1000],
    ['0x_F', 15],
    ['1_000.5', 1000.5],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', new WholeFloat(9223372036854775808)],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551616', new WholeFloat(18446744073709551616)],
    ['1.2.3', '1.2.3'],
    ['12:30:45', '12:30:45'],
    ['2001-01-01', '2001-01-01'],
    ['2001-01-01T00:00:00Z', '2001-01-01T00:00:00Z'],
    ['-', '-'],
    ['0x', '0x'],
    ['a#b', 'a#b'],
    ['a b  c # d', 'a b  c'],
    ['=', '='],
  ])('reads %s', (text, expected) => {
    // `-` alone would be a list.
    expect(value(`v: ${text === '-' ? "'-'" : text}\n`)).toEqual({ v: expected })
  })

  it.each<[string, Value]>([
    ['"1"', '1'],
    ["'yes'", 'yes'],
    ['!!str 5', '5'],
    ['!!int "7"', 7],
    ['!!float 1', 1],
    ['!!bool "on"', true],
    ['!!binary aGVsbG8=', 'hello'],
    ['!!binary "/w=="', '\ufffd'],
    ['! 5', '5'],
    ['!mine 5', '5'],
    ['!!str', ''],
    ['!!timestamp 2001-01-01', '2001-01-01'],
    ['"a\\x41\\u00e9\\U0001F600\\n\\e\\N\\_\\L\\0"', 'aAé😀\n\u001b\u0085\u00a0\u2028\0'],
    ['"one\n  two\n\n  three \\\n  four"', 'one two\nthree four'],
    ["'it''s\n  so'", "it's so"],
    ['one\n  two\n\n\n  three', 'one two\n\nthree'],
  ])('reads %s', (text, expected) => {
    expect(value(`v: ${text}\n`)).toEqual({ v: expected })
  })

  it.each([
    ['|\n  two\n  lines\n', 'two\nlines\n'],
    ['|-\n  two\n   lines\n\n', 'two\n lines'],
    ['|+\n  two\n\n', 'two\n\n'],
    ['|2\n   x\n', ' x\n'],
    ['>\n  folded\n  text\n', 'folded text\n'],
    ['>-\n  folded\n\n  text\n    kept\n  on', 'folded\ntext\n  kept\non'],
    ['| # note\n\n  x\n', '\nx\n'],
  ])('reads the block %j', (text, expected) => {
    expect(value(`v: ${text}`)).toEqual({ v: expected })
  })
})

describe('keys', () => {
  it('converts them to strings by their type, and sorts them', () => {
    const text = 'yes: 1\n0x10: 2\n1.5: 3\n"no": 4\n2001-01-01: 5\n1e10: 6\n? 0.1\n: 7\n'
    expect(Object.entries(value(text) as object)).toEqual([
      ['16', 2],
      ['0.1', 7],
      ['1.5', 3],
      ['1e+10', 6],
      ['2001-01-01', 5],
      ['no', 4],
      ['true', 1],
    ])
  })

  it('keeps __proto__ an ordinary key', () => {
    expect(Object.keys(value('__proto__: {a: 1}') as object)).toEqual(['__proto__'])
  })

  it.each([
    ['~: x', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'],
    ['18446744073709551615: 1', 'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: 1'],
    ['[1, a]: x', 'yaml: invalid map key: []interface {}{1, "a"}'],
    ['? {a: ~}\n: x', 'yaml: invalid map key: map[interface {}]interface {}{"a":interface {}(nil)}'],
  ])('refuses %j', (text, message) => {
    expect(failure(text)).toBe(message)
  })

  it.each([
    ['spec:\n  a: x\n  a: z\n  u: 1\n', ['line 3: key "a" already set in map'], { spec: { a: 'z', u: 1 } }],
    ['{"a":"1","a":"2"}', ['line 1: key "a" already set in map'], { a: '2' }],
    ['a: 1\na:\n  b: 1\n', ['line 3: key "a" already set in map'], { a: { b: 1 } }],
    ['1: a\n"1": b\n', [], { 1: 'b' }],
    ['true: a\nyes: b\n', ['line 2: key true already set in map'], { true: 'b' }],
    ['1: a\n0x1: b\n', ['line 2: key 1 already set in map'], { 1: 'b' }],
    [
      'a: 1\na: 2\nb:\n  c: 1\n  c: 2\n',
      ['line 2: key "a" already set in map', 'line 5: key "c" already set in map'],
      { a: 2, b: { c: 2 } },
    ],
    ['a: {b: 1, b: 2}\na: 3\n', ['line 1: key "b" already set in map', 'line 2: key "a" already set in map'], { a: 3 }],
  ])('finds the duplicates of %j', (text, duplicates, expected) => {
    expect(decode(text)).toEqual({ value: expected, duplicates })
  })
})

describe('collections', () => {
  it.each<[string, Value]>([
    ['a:\n- 1\n- 2\nb:\n  - 3\n', { a: [1, 2], b: [3] }],
    ['- - 1\n  - 2\n- a: 1\n  b: 2\n-\n- \n', [[1, 2], { a: 1, b: 2 }, null, null]],
    ['{a: 1, "b":2, c, d: [x, k: z, ], }', { a: 1, b: 2, c: null, d: ['x', { k: 'z' }] }],
    ['? a\n? b\n: 2\n', { a: null, b: 2 }],
    ['a: &x {k: 1}\nb: *x\nc: [*x]\n', { a: { k: 1 }, b: { k: 1 }, c: [{ k: 1 }] }],
    ['base: &b {x: 1, z: 2}\nv:\n  <<: *b\n  z: 3\n', { base: { x: 1, z: 2 }, v: { x: 1, z: 3 } }],
    ['a: &a {x: 1}\nb: &b {x: 2, z: 2}\nv: {<<: [*a, *b]}\n', { a: { x: 1 }, b: { x: 2, z: 2 }, v: { x: 1, z: 2 } }],
    ['a: 1\n"<<": {b: 2}\n', { a: 1, '<<': { b: 2 } }],
    ['%TAG ! tag:yaml.org,2002:\n---\na: !int "5"\n', { a: 5 }],
    ['a:\tb\n', { a: 'b' }],
    ['a: b\r\nc: d\r\n', { a: 'b', c: 'd' }],
    ['# note\na: 1 # more\n', { a: 1 }],
  ])('reads %j', (text, expected) => {
    expect(value(text)).toEqual(expected)
  })

  it('copies the value of an alias', () => {
    const { a, b } = value('a: &x {k: {m: 1}}\nb: *x\n') as { a: { k: object }; b: { k: object } }
    expect(b).toEqual(a)
    expect(b.k).not.toBe(a.k)
  })
})

describe('documents', () => {
  it.each<[string, Value]>([
    ['', null],
    ['\n', null],
    ['---\n', null],
    ['null\n', null],
    ['# only a note', null],
    ['---\na: 1\n', { a: 1 }],
    ['a: 1\n---\nb: 2\n', { a: 1 }],
    ['a: 1\n...\n', { a: 1 }],
    ['---\n---\na: 1\n', null],
    ['a: 1\n---\nnonsense: [\n', { a: 1 }],
    ['%YAML 1.1\n---\na: 1\n', { a: 1 }],
    ['\ufeffa: 1\n', { a: 1 }],
    ['{a: 1} trailing', { a: 1 }],
    ['text\n', 'text'],
  ])('reads the first of %j', (text, expected) => {
    expect(value(text)).toEqual(expected)
  })

  it('reads UTF-16 with a byte order mark', () => {
    const utf16 = Buffer.from('\ufeffa: é\n', 'utf16le')
    expect(decodeYaml(utf16).value).toEqual({ a: 'é' })
    expect(decodeYaml(Buffer.from(utf16).swap16()).value).toEqual({ a: 'é' })
  })
})

describe('what is not YAML', () => {
  it.each([
    ['a: b: c\n', 'yaml: mapping values are not allowed in this context'],
    ['x: 1\na: b: c\n', 'yaml: line 2: mapping values are not allowed in this context'],
    ['\ta: b\n', 'yaml: found character that cannot start any token'],
    ['a: @b\n', 'yaml: found character that cannot start any token'],
    ['a: b\nc\n', "yaml: line 3: could not find expected ':'"],
    ['kind: Widget\n\tmetadata: x\n', 'yaml: line 2: found a tab character that violates indentation'],
    ['{a: b\n', "yaml: line 1: did not find expected ',' or '}'"],
    ['[a, b\n', "yaml: line 1: did not find expected ',' or ']'"],
    ['{"apiVersion": ', 'yaml: line 1: did not find expected node content'],
    ['a: [,]\n', 'yaml: did not find expected node content'],
    ['a: "b\n', 'yaml: line 2: found unexpected end of stream'],
    ["a: 'b\n---\n", 'yaml: line 2: found unexpected document indicator'],
    ['a: "\\z"\n', 'yaml: found unknown escape character'],
    ['a: "\\ud800"\n', 'yaml: found invalid Unicode character escape code'],
    ['a: "\\xg0"\n', 'yaml: did not find expected hexdecimal number'],
    ['%YAML 1.2\n---\na: b\n', 'yaml: found incompatible YAML document'],
    ['%YAML 1.1\n%YAML 1.1\n---\n', 'yaml: line 1: found duplicate %YAML directive'],
    ['%FOO\n---\n', 'yaml: found unknown directive name'],
    ['%YAML 1.1\na: b\n', 'yaml: line 1: did not find expected <document start>'],
    ['a: b\n  c: d\n', 'yaml: line 2: mapping values are not allowed in this context'],
    ['a:\n  b: 1\n c: 2\n', 'yaml: line 2: did not find expected key'],
    ['- a\nb: c\n', "yaml: line 1: did not find expected '-' indicator"],
    ['a: - b\n', 'yaml: block sequence entries are not allowed in this context'],
    ['a: *x\n', "yaml: unknown anchor 'x' referenced"],
    ['a: &x [*x]\n', "yaml: anchor 'x' value contains itself"],
    ['a: !x!y z\n', 'yaml: found undefined tag handle'],
    ['a: !!int x\n', 'yaml: cannot decode !!str `x` as a !!int'],
    ['a: !!binary "?"\n', 'yaml: !!binary value contains invalid base64 data'],
    ['a: 1\n<<: x\n', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: |\n\tx\n', 'yaml: line 2: found a tab character where an indentation space is expected'],
    ['a: |0\n', 'yaml: found an indentation indicator equal to 0'],
    ['a: .inf\n', 'json: unsupported value: +Inf'],
    ['a: -.INF\n', 'json: unsupported value: -Inf'],
    ['a: .nan\n', 'json: unsupported value: NaN'],
    ['a: !!int x\nb: [\n', 'yaml: line 2: did not find expected node content'],
    ['a: \u0007\n', 'yaml: control characters are not allowed'],
    ['a: & b\n', 'yaml: did not find expected alphabetic or numeric character'],
  ])('says of %j: %s', (text, message) => {
    expect(failure(text)).toBe(message)
  })

  it.each([
    [[0xd9, 0xd9, 0xf7], 'yaml: invalid trailing UTF-8 octet'],
    [[0xff], 'yaml: invalid leading UTF-8 octet'],
    [[0x61, 0xe2, 0x82], 'yaml: incomplete UTF-8 octet sequence'],
    [[0xc0, 0x80], 'yaml: invalid length of a UTF-8 sequence'],
    [[0xed, 0xa0, 0x80], 'yaml: invalid Unicode character'],
  ])('says of the bytes %j: %s', (bytes, message) => {
    expect(failure(Buffer.from(bytes))).toBe(message)
  })

  it('reports an invalid character only if reading reaches it', () => {
    expect(value(`a: 1\n---\n${' '.repeat(1024)}\u0007`)).toEqual({ a: 1 })
    expect(failure(`b: [}\n${' '.repeat(1024)}\u0007`)).toBe('yaml: did not find expected node content')
    expect(failure(`a: ${'x'.repeat(1024)}\u0007`)).toBe('yaml: control characters are not allowed')
  })
})

describe('JSON as YAML', () => {
  it('is decoded alike with and without the shortcut', () => {
    fc.assert(
      fc.property(anyValue(), fc.boolean(), (any, pretty) => {
        const bytes = Buffer.from(encodeJson({ any }, { pretty }))
        const source = readYamlText(bytes)
        let byYaml: Value | undefined
        try {
          byYaml = decodeText(source).value
        } catch {
          // such as DEL, which JSON accepts and YAML does not
        }
        const short = source.error ? undefined : readYamlAsJson(bytes, source.text)
        if (short !== undefined) {
          expect(equalValues(short, byYaml)).toBe(true)
          expect(encodeJson(short)).toBe(encodeJson(byYaml!))
        }
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['{"a":"\\/"}', 'yaml: found unknown escape character'],
    ['{"a":"\\ud83d\\ude00"}', 'yaml: found invalid Unicode character escape code'],
  ])('fails on %j all the same', (text, message) => {
    expect(failure(text)).toBe(message)
  })

  it('decodes YAML that is not JSON', () => {
    expect(value('{"b":1.0,"a":1e400,"c":{"d":9223372036854775808}}')).toEqual({
      a: '1e400',
      b: 1,
      c: { d: new WholeFloat(9223372036854775808) },
    })
    expect(Object.keys(value('{"b":1.0,"a":[{"d":1,"c":2}]}') as object)).toEqual(['a', 'b'])
    expect(decode('{"a":1,"a":2}').duplicates).toEqual(['line 1: key "a" already set in map'])
    expect(failure(`{"${'k'.repeat(1100)}":1}`)).toBe("yaml: did not find expected ',' or '}'")
  })
})

describe('hostile input', () => {
  it('nests 10,000 deep and no deeper', () => {
    expect(value('['.repeat(10_000) + ']'.repeat(10_000))).toBeInstanceOf(Array)
    expect(failure('['.repeat(10_001))).toBe('yaml: exceeded max depth of 10000')
    expect(failure('['.repeat(1024 * 1024))).toBe('yaml: exceeded max depth of 10000')
    expect(failure('- '.repeat(10_001))).toBe('yaml: exceeded max depth of 10000')
    expect(value(`a: &x ${'['.repeat(9000)}${']'.repeat(9000)}\nb: *x`)).toBeTruthy()
    expect(failure(`? ${'['.repeat(9000)}${']'.repeat(9000)}\n: x`)).toMatch(/^yaml: invalid map key/)
  })

  it('refuses excessive aliases and merges', () => {
    const started = performance.now()
    const levels = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`)
    expect(failure(`a0: &a0 x\n${levels.join('\n')}`)).toBe('yaml: document contains excessive aliasing')
    const merges = Array.from({ length: 1000 }, (_, i) => `{k${i}: 1, <<: `)
    expect(failure(`${merges.join('')}{}${'}'.repeat(1000)}`)).toBe('yaml: document contains excessive aliasing')
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('reads no further than the largest object may reach, also where keys are repeated', () => {
    expect(value('a: b\n'.repeat(100_000))).toEqual({ a: 'b' })
    expect(() => decode(`${'a: b\n'.repeat(100_001)}]`)).toThrow('more than 100000 fields')
  })

  it('refuses aliases and merges that make much of little', () => {
    const text = 'x'.repeat(20_000)
    const bomb = 'yaml: document contains excessive aliasing'
    expect(failure(`a: &a ${text}\nb: [${'*a,'.repeat(9_000)}]`)).toBe(bomb)
    expect(failure(`a: &a {? ${text} : 1}\nb: [${'*a,'.repeat(9_000)}]`)).toBe(bomb)
    expect(failure(`a: &a ${text}\nb: {${'*a : 1,'.repeat(9_000)}}`)).toBe(bomb)
    expect(failure(`a: &a {b: ${text}}\nb: [${'{<<: *a},'.repeat(9_000)}]`)).toBe(bomb)
    const nested = Array.from({ length: 300 }, (_, i) => `{k${i}: ${'x'.repeat(1_000)}, <<: `)
    expect(failure(`${nested.join('')}{}${'}'.repeat(300)}`)).toBe(bomb)
    const many = `a: &a [${'b,'.repeat(10_000)}]\nb: [${'*a,'.repeat(20_000)}]`
    expect(failure(many)).toBe(bomb)
  })

  it('accepts aliases of long texts', () => {
    const text = 'x'.repeat(20_000)
    expect(value(`a: &a ${text}\nb: [${'*a,'.repeat(100)}]`)).toEqual({ a: text, b: Array(100).fill(text) })
  })

  it('reads long scalars and many keys without delay', () => {
    const started = performance.now()
    expect(value(`a: ${'9'.repeat(100_000)}`)).toEqual({ a: '9'.repeat(100_000) })
    expect(Object.keys(value(`{${'a: 1, '.repeat(50_000)}}`) as object)).toEqual(['a'])
    expect(value(`a: "${'\\n'.repeat(50_000)}"`)).toEqual({ a: '\n'.repeat(50_000) })
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('decodes every prefix of a document, or fails with a CodecError', () => {
    const text = '---\na: &x [1, "t\\u0041", \'q\'\'\']\nb: |\n  x\nc: {<<: {k: !!int "1"}, ? d : *x}\n- \n'
    for (let length = 0; length <= text.length; length++) {
      const part = text.slice(0, length)
      try {
        decode(part)
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError)
      }
    }
  })
})
