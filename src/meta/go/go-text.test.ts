import { describe, expect, it, test } from 'vitest'
import { type Value, WholeFloat } from '../values/value.js'
import {
  compareTexts,
  isPrintable,
  parseInt64,
  parseUint64,
  printCodePoint,
  printFixed,
  printFloat,
  printJson,
  printNumber,
  printPlain,
  printStrings,
  quote,
  quoteRune,
  quoteTime,
} from './go-text.js'

describe('quoting', () => {
  test.each([
    ['', '""'],
    ['plain text', '"plain text"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['back\\slash', '"back\\\\slash"'],
    ['a\nb\tc\r', '"a\\nb\\tc\\r"'],
    ['\x00\x01\x7f', '"\\x00\\x01\\x7f"'],
    ['\x07\b\f\v', '"\\a\\b\\f\\v"'],
    ['ä😀', '"ä😀"'],
    ['\u00ad\u200b', '"\\u00ad\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\ufffd"'],
    ["it's", '"it\'s"'],
  ])('%j', (text, expected) => {
    expect(quote(text)).toBe(expected)
  })

  it('quotes one character as Go does', () => {
    expect(['x', "'", '\u009e', '\n'].map(quoteRune)).toEqual(["'x'", "'\\''", "'\\u009e'", "'\\n'"])
  })

  it('quotes times byte by byte', () => {
    expect(quoteTime('a"b\\<\x00\x07\x7f')).toBe('"a\\"b\\\\<\\x00\\x07\x7f"')
    expect(quoteTime('\u00ad\u2028😀')).toBe('"\\xc2\\xad\\xe2\\x80\\xa8\\xf0\\x9f\\x98\\x80"')
  })

  it('prints code points and lists of texts', () => {
    expect(printCodePoint('\n')).toBe('U+000A')
    expect(printCodePoint('😀')).toBe('U+1F600')
    expect(printStrings(['a', 'b"c'])).toBe('[]string{"a", "b\\"c"}')
    expect(printStrings([])).toBe('[]string{}')
  })

  it('recognizes printable characters', () => {
    expect(['a', ' ', 'é', '€', '😀'].every(isPrintable)).toBe(true)
    expect(['\n', '\u00a0', '\u200b', '\ud800'].some(isPrintable)).toBe(false)
  })
})

describe('numbers', () => {
  test.each([
    [0.5, '0.5'],
    [-1.25, '-1.25'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [999999.5, '999999.5'],
    [1000001, '1.000001e+06'],
    [1e22, '1e+22'],
    [-1.2345678901234568e22, '-1.2345678901234568e+22'],
    [100000, '100000'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [0, '0'],
  ])('the float %d prints as %s', (value, expected) => {
    expect(printFloat(value)).toBe(expected)
  })

  test.each<[number | bigint | WholeFloat, string]>([
    [7, '7'],
    [1e15, '1000000000000000'],
    [9007199254740993n, '9007199254740993'],
    [new WholeFloat(1), '1'],
    [new WholeFloat(1e18), '1e+18'],
    [2.5, '2.5'],
  ])('the number %s prints as its Go type does', (value, expected) => {
    expect(printNumber(value)).toBe(expected)
  })
})

test.each<[Value, string]>([
  [null, '<nil>'],
  ['a b', 'a b'],
  [{ b: [1, 1.5, true], a: { c: 'x' }, d: new WholeFloat(3) }, 'map[a:map[c:x] b:[1 1.5 true] d:3]'],
])('%s, printed plainly', (value, expected) => {
  expect(printPlain(value)).toBe(expected)
})

describe('JSON', () => {
  test.each<[Value, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    ['self > 0 && a < b', '"self \\u003e 0 \\u0026\\u0026 a \\u003c b"'],
    [{ big: 9007199254740993n, whole: new WholeFloat(3) }, '{"big":9007199254740993,"whole":3}'],
    ['\u2028\ud800', '"\\u2028\ufffd"'],
    [1e21, '1e+21'],
  ])('%s', (value, expected) => {
    expect(printJson(value)).toBe(expected)
  })

  it('keeps the order of a struct', () => {
    expect(printJson({ b: 1, a: { d: 1, c: 2 } }, { keepOrder: true })).toBe('{"b":1,"a":{"d":1,"c":2}}')
  })
})

describe('reading integers', () => {
  test.each([
    ['0', 0n],
    ['+1', 1n],
    ['-0', 0n],
    ['007', 7n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
  ])('%s', (text, value) => {
    expect(parseInt64(text)).toEqual({ ok: true, value })
  })

  test.each([
    ['', 'invalid syntax'],
    ['abc', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    [' 1', 'invalid syntax'],
    ['9223372036854775808', 'value out of range'],
    ['-9223372036854775809', 'value out of range'],
    ['9'.repeat(100_000), 'value out of range'],
  ])('case %# is no int64', (text, error) => {
    expect(parseInt64(text)).toEqual({ ok: false, error: `strconv.ParseInt: parsing "${text}": ${error}` })
  })

  it('reads unsigned ones without a sign', () => {
    expect(parseUint64('18446744073709551615')).toEqual({ ok: true, value: 18446744073709551615n })
    expect(parseUint64('-1')).toEqual({ ok: false, error: 'strconv.ParseUint: parsing "-1": invalid syntax' })
    expect(parseUint64('18446744073709551616')).toMatchObject({ ok: false })
  })
})

test('texts sort by their UTF-8 bytes', () => {
  const sorted = ['', '-c', 'A', 'a', 'ab', 'b_', 'ä', '\ufffd', '😀']
  expect(sorted.toReversed().toSorted(compareTexts)).toEqual(sorted)
})

test.each([
  [2.25, 1, '2.2'],
  [2.75, 1, '2.8'],
  [1.0078125, 6, '1.007812'],
  [1.0005, 6, '1.000500'],
  [99.96, 1, '100.0'],
])('%d with %d digits is %s', (value, digits, text) => {
  expect(printFixed(value, digits)).toBe(text)
})
