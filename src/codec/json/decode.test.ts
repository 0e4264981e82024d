import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import { decodeJson } from './decode.js'

const decode = (text: string) => decodeJson(Buffer.from(text))
const value = (text: string) => decode(text).value
const failure = (input: string | Uint8Array): CodecError => {
  try {
    decodeJson(typeof input === 'string' ? Buffer.from(input) : input)
  } catch (error) {
    if (error instanceof CodecError) return error
    throw error
  }
  throw new Error(`decoded: ${String(input)}`)
}

describe('numbers', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['-7', -7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', new WholeFloat(9223372036854775808)],
    ['100000000000000000000', new WholeFloat(1e20)],
    ['1.0', new WholeFloat(1)],
    ['-0.0', new WholeFloat(-0)],
    ['1e3', new WholeFloat(1000)],
    ['1e-400', new WholeFloat(0)],
    ['1.5', 1.5],
    ['-2.5E-3', -0.0025],
    ['1e308', new WholeFloat(1e308)],
  ])('reads %s', (text, expected) => {
    expect(value(text)).toEqual(expected)
  })

  it('keeps how a whole float was written', () => {
    const texts = ['1e3', '1E3', '1.0', '1.00', '-0.0', '1e30', '1e+30', '9223372036854775808', '12345678901234567890']
    expect(texts.map(text => (value(text) as WholeFloat).literal)).toEqual(texts)
  })

  it('refuses numbers beyond float64, naming the first, but only if the rest is well formed', () => {
    expect(failure('{"a":1e400,"b":-1e309}')).toMatchObject({
      kind: 'unacceptable',
      message: 'json: cannot unmarshal number 1e400 into Go value of type float64',
    })
    expect(failure('{"a":1e400,')).toMatchObject({ kind: 'malformed', message: 'unexpected end of JSON input' })
  })

  it('reads 100,000 digits without delay', () => {
    const started = performance.now()
    expect(value(`1${'0'.repeat(300)}.${'1'.repeat(100_000)}`)).toBeInstanceOf(WholeFloat)
    expect(failure('9'.repeat(100_000)).kind).toBe('unacceptable')
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

describe('texts', () => {
  it.each([
    ['"a\\u0062\\n\\/\\\\\\""', 'ab\n/\\"'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\ud83dx"', '\ufffdx'],
    ['"\\ude00\\ud83d"', '\ufffd\ufffd'],
    ['"é😀\u007f"', 'é😀\u007f'],
  ])('reads %s', (text, expected) => {
    expect(value(text)).toBe(expected)
  })

  it.each([
    [[0xff, 0xfe], '\ufffd\ufffd'],
    [[0x61, 0xc3, 0x28], 'a\ufffd('],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    [[0xc0, 0x80], '\ufffd\ufffd'],
    [[0xf4, 0x90, 0x80, 0x80], '\ufffd\ufffd\ufffd\ufffd'],
    [[0xe2, 0x82], '\ufffd\ufffd'],
    [[0xe2, 0x82, 0xac, 0x80], '€\ufffd'],
  ])('puts U+FFFD for each byte of %j that is no UTF-8', (bytes, expected) => {
    expect(decodeJson(Buffer.from([0x22, ...bytes, 0x22])).value).toBe(expected)
  })
})

describe('objects', () => {
  it('keeps __proto__ and constructor as ordinary members', () => {
    const object = value('{"__proto__":{"x":1},"constructor":2,"toString":3}') as Record<string, unknown>
    expect(Object.keys(object)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"\\u0061":2,"a":3}', ['a']],
    ['{"a":null,"a":2}', ['a']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"constructor":1}', []],
    ['{"m":{"n":1,"n":1,"l":{"l":"1","l":"2"}},"s":{"a":1,"a":2}}', ['m.n', 'm.l.l', 's.a']],
    ['{"spec":{"list":[{"x":1},{"x":1,"x":2}],"free":[[{"k":1,"k":2}]]}}', ['spec.list[1].x', 'spec.free[0][0].k']],
    ['{"p":{"a":{"t":1,"t":2},"a":{}}}', ['p.a.t', 'p.a']],
    ['{"a":1,"a":{"x":1,"x":1}}', ['a', 'a.x']],
    ['[{"a":{"b":1,"b":1}}]', ['[0].a.b']],
    ['{"a.b":{"c":1,"c":1}}', ['a.b.c']],
  ])('finds the duplicates of %s', (text, expected) => {
    expect(decode(text).duplicates).toEqual(expected)
  })

  it('uses the last of a duplicate field, and reports each path once and at most 100 of them', () => {
    expect(value('{"o":{"b":1},"o":{}}')).toEqual({ o: {} })
    const many = Array.from({ length: 150 }, (_, i) => `"f${i}":0,"f${i}":1,"f${i}":2`)
    expect(decode(`{${many.join()}}`).duplicates).toHaveLength(100)
  })
})

describe('what is not JSON', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['  ', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"metadata":', 'unexpected end of JSON input'],
    ['"unclosed}}', 'unexpected end of JSON input'],
    ['"\\', "invalid character ' ' in string escape code"],
    ['"\\u12', "invalid character ' ' in \\u hexadecimal character escape"],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['{"a":1.', "invalid character ' ' after decimal point in numeric literal"],
    ['[1e+', "invalid character ' ' in exponent of numeric literal"],
    ['nonsense', "invalid character 'o' in literal null (expecting 'u')"],
    ['{"v":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{"v":01}', "invalid character '1' after object key:value pair"],
    ['{"v":+1}', "invalid character '+' looking for beginning of value"],
    ['{"v":.5}', "invalid character '.' looking for beginning of value"],
    ['{"v":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"v":0x10}', "invalid character 'x' after object key:value pair"],
    ['{"v":1e}', "invalid character '}' in exponent of numeric literal"],
    ['{"v":-}', "invalid character '}' in numeric literal"],
    ['{"v":\'1\'}', "invalid character '\\'' looking for beginning of value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"v":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"v":"\\u00g0"}', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"tab\there"', "invalid character '\\t' in string literal"],
    ['"\u0000"', "invalid character '\\x00' in string literal"],
    ['{}x', "invalid character 'x' after top-level value"],
    ['{} {', "invalid character '{' after top-level value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['\\', "invalid character '\\\\' looking for beginning of value"],
    ['"', 'unexpected end of JSON input'],
    ['{""', 'unexpected end of JSON input'],
  ])('says of %j: %s', (text, message) => {
    expect(failure(text)).toMatchObject({ kind: 'malformed', message })
  })

  it('counts the offset in bytes', () => {
    expect(failure('{"é":"é",}').offset).toBe(12)
    expect(failure(Buffer.from([0x9e])).message).toBe("invalid character '\\u009e' looking for beginning of value")
    expect(failure(Buffer.from([0x22, 0xff, 0x22, 0x78])).message).toBe("invalid character 'x' after top-level value")
  })

  it('nests 10,000 deep and no deeper', () => {
    expect(value('['.repeat(10_000) + ']'.repeat(10_000))).toBeInstanceOf(Array)
    expect(failure('['.repeat(10_001)).message).toBe("invalid character '[' exceeded max depth")
    expect(failure('['.repeat(3 * 1024 * 1024)).message).toBe("invalid character '[' exceeded max depth")
    expect(failure('{"a":'.repeat(10_001)).message).toBe("invalid character '{' exceeded max depth")
    expect(() => decodeJson(Buffer.from('[[1]]'), { maxDepth: 1 })).toThrow('exceeded max depth')
  })
})

describe('against JSON.parse', () => {
  it('gives the same for any plain value, with any white space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\n\t'), (plain, indent) => {
        const text = JSON.stringify(plain, null, indent)
        expect(unwrap(decode(text).value)).toEqual(unwrap(JSON.parse(text)))
      }),
    )
  })

  it('fails on every prefix of a document', () => {
    const text = '{"a":[1.5e3,true,null,"x\\u00e9\\n"],"b":{"c":-12,"d":[]},"é":false}'
    const bytes = Buffer.from(text)
    for (let length = 0; length < bytes.length; length++) {
      expect(failure(bytes.subarray(0, length)).message).toMatch(
        /^(unexpected end of JSON input$|invalid character ' ' )/,
      )
    }
  })

  it('fails only with a CodecError', () => {
    const pieces = fc.constantFrom(...Array.from('{}[],:"\\u0eE+-. \n'), 'true', 'null', '"a"', '12', 'é', '\u0000')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), parts => {
        const text = parts.join('')
        let accepted = true
        try {
          JSON.parse(text)
        } catch {
          accepted = false
        }
        if (accepted) decode(text)
        else expect(failure(text)).toBeInstanceOf(CodecError)
      }),
      { numRuns: 500 },
    )
  })
})

/** Removes the distinctions that JSON.parse does not make. */
function unwrap(input: unknown): unknown {
  if (input instanceof WholeFloat) return unwrap(input.value)
  if (typeof input === 'bigint') return Number(input)
  if (Object.is(input, -0)) return 0
  if (Array.isArray(input)) return input.map(unwrap)
  if (typeof input !== 'object' || input === null) return input
  return Object.entries(input).map(([key, member]) => [key, unwrap(member)])
}

it('decodes -0 as the float on request', () => {
  const bytes = Buffer.from('[-0,0,-1,-0.0]')
  expect(decodeJson(bytes).value).toEqual([0, 0, -1, new WholeFloat(-0)])
  expect(decodeJson(bytes, { floatMinusZero: true }).value).toEqual([new WholeFloat(-0), 0, -1, new WholeFloat(-0)])
})
