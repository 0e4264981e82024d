import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalValues, type Value, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import { anyValue } from '../values.suite.js'
import { cborTypeName, decodeCbor } from './decode.js'
import { diagnoseCbor } from './diagnose.js'
import { encodeCbor } from './encode.js'
import { splitCborSequence } from './sequence.js'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const decode = (text: string): Value => decodeCbor(hex(text)).value
const failure = (bytes: Uint8Array): CodecError => {
  try {
    decodeCbor(bytes)
  } catch (error) {
    if (error instanceof CodecError) return error
    throw error
  }
  throw new Error(`decoded: ${Buffer.from(bytes).toString('hex')}`)
}

describe('decoding', () => {
  it.each<[string, string, Value]>([
    ['integers', '00', 0],
    ['integers that are longer than they need be', '1800', 0],
    ['32 bits', '1a000186a0', 100000],
    ['64 bits', '1b7fffffffffffffff', 9223372036854775807n],
    ['2^53', '1b0020000000000000', 9007199254740992n],
    ['negative ones', '22', -3],
    ['the least', '3b7fffffffffffffff', -9223372036854775808n],
    ['-2^53', '3b001fffffffffffff', -9007199254740992n],
    ['-(2^53-1)', '3b001ffffffffffffe', -9007199254740991],
    ['half floats', 'f93c00', new WholeFloat(1)],
    ['small half floats', 'f90001', 5.960464477539063e-8],
    ['single floats', 'fa3fc00000', 1.5],
    ['double floats', 'fb3ff8000000000000', 1.5],
    ['zero as a float', 'fb0000000000000000', new WholeFloat(0)],
    ['byte strings as texts', '43616263', 'abc'],
    ['text strings', '66c3a9f09f9880', 'é😀'],
    ['byte strings that are no UTF-8', '43ff61ff', '\ufffda\ufffd'],
    ['byte strings in chunks', '5f4261624163ff', 'abc'],
    ['text strings in chunks', '7f6261626163ff', 'abc'],
    ['strings in chunks of different sizes', '7f60616160626263616460ff', 'abcd'],
    ['the self-described tag anywhere', '81d9d9f7d9d9f743616263', ['abc']],
    ['unknown tags', 'd8406161', 'a'],
    ['times as text', 'c074323030312d30312d30315430303a30303a30305a', '2001-01-01T00:00:00Z'],
    ['times as seconds', 'c11a514b67b0', '2013-03-21T20:04:00Z'],
    ['times as a float', 'c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'],
    ['bytes that want base64', 'd64200ff', 'AP8='],
    ['bytes that want base64url', 'd542fbff', '-_8'],
    ['bytes that want hexadecimal, within a list', 'd78142fbff', ['fbff']],
    ['lists', '83010203', [1, 2, 3]],
    ['lists without a count', '9f0102ff', [1, 2]],
    ['maps', 'a241610a616280', { a: 10, b: [] }],
    ['maps without a count', 'bf416101ff', { a: 1 }],
    ['null as a key', 'a1f60a', { '': 10 }],
    ['true, false and null', '83f5f4f6', [true, false, null]],
  ])('reads %s', (_, bytes, expected) => {
    expect(decode(bytes)).toEqual(expected)
  })

  it.each([
    ['', 'EOF'],
    ['a1', 'unexpected EOF'],
    ['7b2261', 'unexpected EOF'],
    ['43 6162', 'unexpected EOF'],
    ['19 01', 'unexpected EOF'],
    ['c0', 'unexpected EOF'],
    ['9f01', 'unexpected EOF'],
    ['ff', 'cbor: unexpected "break" code'],
    ['81ff', 'cbor: unexpected "break" code'],
    ['bf01ff', 'cbor: unexpected "break" code'],
    ['01f6', 'cbor: 1 bytes of extraneous data starting at index 1'],
    ['1c', 'cbor: invalid additional information 28 for type positive integer'],
    ['1f', 'cbor: invalid additional information 31 for type positive integer'],
    ['f801', 'cbor: invalid simple value 1 for type primitives'],
    ['5f4261626163ff', 'cbor: wrong element type UTF-8 text string for indefinite-length byte string'],
    ['7f7fffff', 'cbor: indefinite-length UTF-8 text string chunk is not definite-length'],
    ['5bffffffffffffffff', 'cbor: byte string length 18446744073709551615 is too large, causing integer overflow'],
    ['9bffffffffffffffff', 'cbor: array length 18446744073709551615 is too large, it would cause integer overflow'],
    ['99 0401', 'cbor: exceeded max number of elements 1024 for CBOR array'],
    ['b9 0401', 'cbor: exceeded max number of key-value pairs 1024 for CBOR map'],
    ['f97e00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN'],
    ['f9fc00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity'],
    ['c249010000000000000000', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
  ])('says of %s that it is malformed: %s', (bytes, message) => {
    expect(failure(hex(bytes))).toMatchObject({ kind: 'malformed', message })
  })

  it.each([
    ['a2416101416102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a2416101616102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a1010a', 'cbor: cannot unmarshal positive integer into Go value of type string'],
    ['a1800a', 'cbor: cannot unmarshal array into Go value of type string'],
    ['a1f50a', 'cbor: cannot unmarshal primitives into Go value of type string'],
    ['f7', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized'],
    ['f0', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 16 is not recognized'],
    ['f8ff', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 255 is not recognized'],
    [
      '3b8000000000000000',
      "cbor: cannot unmarshal negative integer into Go value of type int64 (-9223372036854775809 overflows Go's int64)",
    ],
    [
      '1b8000000000000000',
      "cbor: cannot unmarshal positive integer into Go value of type int64 (9223372036854775808 overflows Go's int64)",
    ],
    ['62c328', 'cbor: invalid UTF-8 string'],
    [
      'c061 78',
      'cbor: cannot set x for time.Time: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    ['c080', 'cbor: cannot unmarshal array into Go value of type time.Time'],
  ])('says of %s that it is unacceptable: %s', (bytes, message) => {
    expect(failure(hex(bytes))).toMatchObject({ kind: 'unacceptable', message })
  })

  it('nests 64 deep and no deeper, for lists, maps and tags', () => {
    expect(decode(`${'81'.repeat(64)}00`)).toBeInstanceOf(Array)
    expect(failure(hex(`${'81'.repeat(65)}00`)).message).toBe('cbor: exceeded max nested level 64')
    expect(failure(Buffer.alloc(3 * 1024 * 1024, 0x81)).message).toBe('cbor: exceeded max nested level 64')
    expect(failure(Buffer.alloc(3 * 1024 * 1024, 0xd8)).message).toBe('cbor: exceeded max nested level 64')
  })

  it('keeps __proto__ an ordinary key', () => {
    const object = decode('a1495f5f70726f746f5f5fa0') as object
    expect(Object.keys(object)).toEqual(['__proto__'])
  })

  it('names the type of an item within its tags', () => {
    expect(['d9d9f780', '61 61', '4161', 'f6', '20'].map(text => cborTypeName(hex(text)))).toEqual([
      'array',
      'UTF-8 text string',
      'byte string',
      'primitives',
      'negative integer',
    ])
  })
})

describe('encoding', () => {
  it.each<[Value, string]>([
    ['abc', '43616263'],
    ['', '40'],
    [23, '17'],
    [24, '1818'],
    [256, '190100'],
    [65536, '1a00010000'],
    [4294967296, '1b0000000100000000'],
    [-1, '20'],
    [-9223372036854775808n, '3b7fffffffffffffff'],
    [1.5, 'f93e00'],
    [new WholeFloat(1), 'f93c00'],
    [new WholeFloat(-0), 'f98000'],
    [new WholeFloat(65504), 'f97bff'],
    [new WholeFloat(65536), 'fa47800000'],
    [5.960464477539063e-8, 'f90001'],
    [1.1, 'fb3ff199999999999a'],
    [[true, false, null], '83f5f4f6'],
    [{ bb: 1, c: 2, a: [] }, 'a3 4161 80 4163 02 426262 01'],
    ['é', '42c3a9'],
  ])('writes %s', (value, expected) => {
    expect(encodeCbor(value).toString('hex')).toBe(`d9d9f7${expected.replaceAll(' ', '')}`)
  })

  it('round-trips every value exactly', () => {
    fc.assert(
      fc.property(anyValue(), value => {
        expect(equalValues(decodeCbor(encodeCbor(value), { maxDepth: 1000 }).value, value)).toBe(true)
      }),
    )
  })

  it('encodes deep nesting', () => {
    let deep: Value = []
    for (let i = 0; i < 10_000; i++) deep = [deep]
    expect(encodeCbor(deep)).toHaveLength(10_004)
  })

  it('fails on every prefix', () => {
    const bytes = encodeCbor({ a: [1, 300, 'text'], f: 1.1, n: null, o: { p: 70000 } })
    for (let length = 1; length < bytes.length; length++) {
      expect(failure(bytes.subarray(0, length)).message).toBe('unexpected EOF')
    }
  })

  it('fails on arbitrary bytes only with a CodecError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), bytes => {
        try {
          decodeCbor(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError)
        }
        expect(typeof diagnoseCbor(bytes)).toBe('string')
      }),
      { numRuns: 500 },
    )
  })
})

it.each([
  [
    'd9d9f7 a2 44 6b696e64 46 576964676574 48 6d65746164617461 a1 44 6e616d65 41 61',
    "55799({'kind': 'Widget', 'metadata': {'name': 'a'}})",
  ],
  ['86 01 20 f6 f93c00 f7 f0', '[1, -1, null, 1.0, undefined, simple(16)]'],
  ['84 40 42ff00 6122 4127', `[h'', h'ff00', "\\"", '\\'']`],
  ['83 5f41614162ff 5fff 9f01ff', "[(_ 'a', 'b'), ''_, [_ 1]]"],
  ['82 7f6061616122ff 5f404127427e7fff', `[(_ "", "a", "\\""), (_ h'', '\\'', '~\\u007f')]`],
  ['82 62c3a9 420a09', '["\\u00e9", \'\\n\\t\']'],
  ['82 fb4415af1d78b58c40 fb4530000000000000', '[100000000000000000000.0, 1.9342813113834067e+25]'],
  ['ff', 'ff'],
])('diagnoses %s', (bytes, expected) => {
  expect(diagnoseCbor(hex(bytes))).toBe(expected)
})

it('splits a sequence into its complete items and the rest', () => {
  const [first, second] = [encodeCbor({ type: 'ADDED' }), encodeCbor([1, 2])]
  const stream = Buffer.concat([first, second, second.subarray(0, 4)])
  const { frames, rest } = splitCborSequence(stream)
  expect(frames.map(frame => decodeCbor(frame).value)).toEqual([{ type: 'ADDED' }, [1, 2]])
  expect(rest).toEqual(second.subarray(0, 4))
  expect(splitCborSequence(Buffer.alloc(0))).toEqual({ frames: [], rest: Buffer.alloc(0) })
  expect(() => splitCborSequence(hex('01ff'))).toThrow('unexpected "break" code')
})
