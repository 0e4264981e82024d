import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  addQuantities,
  compareQuantities,
  negateQuantity,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantityAsFloat,
  quantityAsInt64,
  quantityOf,
  scaledQuantity,
  signOf,
  subtractQuantities,
} from './quantity.js'

function read(text: string): Quantity {
  const quantity = parseQuantity(text)
  if (!quantity.ok) throw new Error(quantity.error)
  return quantity.value
}

describe('quantities are written canonically', () => {
  test.each([
    ['0', '0'],
    ['0Gi', '0'],
    ['-0.0', '0'],
    ['1', '1'],
    ['1.5', '1500m'],
    ['0.5', '500m'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1000m', '1'],
    ['1000k', '1M'],
    ['0.1m', '100u'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['1e-1000', '1e-9'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['0.5Ki', '512'],
    ['0.0001Ki', '102400u'],
    ['1025Ki', '1025Ki'],
    ['1Ei', '1Ei'],
    ['100Ti', '100Ti'],
    ['1e3', '1e3'],
    ['100e1', '1e3'],
    ['1E3', '1E3'],
    ['1E', '1E'],
    ['12e6', '12e6'],
    ['100000Ei', '9223372036854775807'],
    ['-100000Ei', '-9223372036854775807'],
    ['-1.5Gi', '-1536Mi'],
    // kube-apiserver considers these canonical and keeps them.
    ['1.500', '1.500'],
    ['+5', '+5'],
    ['007', '007'],
    // It parses these as zero.
    ['.', '0'],
    ['-', '0'],
    ['Mi', '0'],
    // It would print 1 here, and lose the rest.
    ['1000E', '1e21'],
  ])('%s as %s', (text, canonical) => {
    expect(printQuantity(read(text))).toBe(canonical)
  })
})

describe('invalid quantities', () => {
  const FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const SUFFIX = "unable to parse quantity's suffix"
  test.each([
    ['', FORMAT],
    ['ten', FORMAT],
    [' 1', FORMAT],
    ['1 Gi', FORMAT],
    ['1.2.3', FORMAT],
    ['1x', FORMAT],
    ['1KI', FORMAT],
    ['1ki', SUFFIX],
    ['1e', SUFFIX],
    ['1-5', SUFFIX],
    ['1mm', SUFFIX],
    ['1e99999999999', SUFFIX],
    ['1'.repeat(2000), 'unable to parse numeric part of quantity'],
  ])('case %#', (text, error) => {
    expect(parseQuantity(text)).toEqual({ ok: false, error })
  })
})

describe('arithmetic', () => {
  test.each([
    ['1', '1', '2'],
    ['1Gi', '1G', '2073741824'],
    ['500m', '500m', '1'],
    ['0', '1Gi', '1Gi'],
    ['1Gi', '0', '1Gi'],
    ['1Ki', '1', '1025'],
    ['1k', '24', '1024'],
    ['1.5Gi', '512Mi', '2Gi'],
  ])('%s + %s = %s', (a, b, sum) => {
    expect(printQuantity(addQuantities(read(a), read(b)))).toBe(sum)
    expect(compareQuantities(subtractQuantities(read(sum), read(b)), read(a))).toBe(0)
  })

  test.each([
    ['1Gi', '1G', 1],
    ['1000m', '1', 0],
    ['-1', '0', -1],
    ['1e3', '1k', 0],
    ['200M', '0.2G', 0],
    ['1e1000', '1', 1],
  ])('%s compared with %s is %d', (a, b, order) => {
    expect(compareQuantities(read(a), read(b))).toBe(order)
    expect(compareQuantities(read(b), read(a))).toBe(0 - order)
  })

  it('returns integers, floats and scaled values', () => {
    expect(['1k', '1.0', '1.5', '100Ti', '9E', '10E'].map(text => quantityAsInt64(read(text)))).toEqual([
      1000n,
      undefined,
      undefined,
      undefined,
      9000000000000000000n,
      undefined,
    ])
    expect(['1500m', '1Ki', '-2'].map(text => quantityAsFloat(read(text)))).toEqual([1.5, 1024, -2])
    expect(scaledQuantity(read('1.1'), 0)).toBe(2n)
    expect(scaledQuantity(read('-1.1'), 0)).toBe(-2n)
    expect(scaledQuantity(read('1.1'), -3)).toBe(1100n)
    expect(['-1', '0', '1m'].map(text => signOf(read(text)))).toEqual([-1, 0, 1])
    expect(printQuantity(negateQuantity(read('1.500')))).toBe('-1500m')
    expect(printQuantity(quantityOf(2048n, 'BinarySI'))).toBe('2Ki')
  })

  const text = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.nat(2_000_000),
      fc.constantFrom('', '.5', '.125', '.001'),
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-3', 'E2'),
    )
    .map(parts => parts.join(''))

  it('is exact: canonical texts have the same value, and the order agrees with billionths', () => {
    const billionths = (quantity: Quantity): bigint => scaledQuantity(quantity, -9)
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [read(a), read(b)]
        expect(compareQuantities(read(printQuantity(x)), x)).toBe(0)
        const [m, n] = [billionths(x), billionths(y)]
        expect(compareQuantities(x, y)).toBe(m < n ? -1 : m > n ? 1 : 0)
        expect(billionths(addQuantities(x, y))).toBe(m + n)
      }),
    )
  })
})
