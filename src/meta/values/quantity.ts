// Resource quantities: `500m`, `1.5Gi`, `12e6`. Exact decimal numbers that keep the format of their suffix.
// They are printed canonically: without a fraction, with the largest suffix that loses nothing.

import { failed, parsed, type Result } from '../../base/result.js'
import { MAX_INT64 } from '../go/go-text.js'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

/** The number `amount × 10^scale`. */
export interface Quantity {
  readonly amount: bigint
  readonly scale: number
  readonly format: QuantityFormat
  /**
   * kube-apiserver keeps most quantities as an int64 and a scale, the rest as big decimals, and some results depend on
   * that. True for big decimals.
   */
  readonly wide: boolean
  /** The text as written, if kube-apiserver considers it canonical and keeps it: also `1.500`. */
  readonly text?: string
}

/** Parses a quantity. Digits below one billionth are rounded up, away from zero. */
export function parseQuantity(text: string): Result<Quantity> {
  if (text === '') return failed(BAD_FORMAT)
  // No quantity needs that many digits; the limit bounds the cost of arithmetic on user input.
  if (text.length > MAX_LENGTH) return failed(BAD_NUMBER)
  const [number = '', sign = '', whole = '', fraction = ''] = /^([+-]?)([0-9]*)(?:\.([0-9]*))?/.exec(text) ?? []
  const suffix = text.slice(number.length)
  if (!/^[eEinumkKMGTP]*[-+]?[0-9]*$/.test(suffix)) return failed(BAD_FORMAT)
  const meaning = readSuffix(suffix)
  if (meaning === undefined) return failed(BAD_SUFFIX)

  const num = whole.replace(/^0+/, '') || '0'
  const digits = num + fraction
  const { format, exponent } = meaning
  const binary = format === 'BinarySI'
  const amount = BigInt(digits) * (binary ? 2n ** BigInt(exponent) : 1n) * (sign === '-' ? -1n : 1n)
  const scale = (binary ? 0 : exponent) - fraction.length

  if (fitsInt64(num, fraction, meaning) && scale >= NANO) {
    const kept = text === '0' || (binary ? BigInt(digits) % 8n !== 0n : isWrittenCanonically(digits, scale))
    return parsed({ amount, scale, format, wide: false, ...(kept ? { text } : {}) })
  }
  return parsed(rounded(amount, scale, format))
}

/** The canonical form, or the text as written if that counts as canonical. */
export const printQuantity = (quantity: Quantity): string => quantity.text ?? canonical(quantity)

/** Negative, 0 or positive as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const scale = Math.min(a.scale, b.scale)
  const x = unscaled(a, scale)
  const y = unscaled(b, scale)
  return x < y ? -1 : x > y ? 1 : 0
}

export const signOf = ({ amount }: Quantity): -1 | 0 | 1 => (amount < 0n ? -1 : amount > 0n ? 1 : 0)

/** The sum, in the format of `a`, or of `b` when `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const format = a.amount === 0n ? b.format : a.format
  if (b.amount === 0n) return { amount: a.amount, scale: a.scale, format, wide: a.wide }
  if (a.amount === 0n) return { amount: b.amount, scale: b.scale, format, wide: a.wide || b.wide }
  const scale = Math.min(a.scale, b.scale)
  const x = unscaled(a, scale)
  const y = unscaled(b, scale)
  const overflows = [x, y, x + y].some(n => n > MAX_INT64 || n < -MAX_INT64 - 1n)
  return { amount: x + y, scale, format, wide: a.wide || b.wide || overflows }
}

export const negateQuantity = ({ amount, scale, format, wide }: Quantity): Quantity => ({
  amount: -amount,
  scale,
  format,
  wide,
})

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => addQuantities(a, negateQuantity(b))

/** A quantity of an integer amount, for counts. */
export const quantityOf = (amount: bigint, format: QuantityFormat = 'DecimalSI'): Quantity => ({
  amount,
  scale: 0,
  format,
  wide: false,
})

/** As an int64, if kube-apiserver can return one without a conversion; not for `1.0`. */
export function quantityAsInt64({ amount, scale, wide }: Quantity): bigint | undefined {
  if (wide || scale < 0 || scale > 18) return undefined
  const value = amount * 10n ** BigInt(scale)
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value
}

/** As a float64, computed like kube-apiserver. */
export const quantityAsFloat = ({ amount, scale }: Quantity): number =>
  scale === 0 ? Number(amount) : Number(amount) * Number(`1e${scale}`)

/** In units of 10^scale, rounded away from zero: 1.1 is 2 at scale 0 and 1100 at scale -3. */
export function scaledQuantity(quantity: Quantity, scale: number): bigint {
  return quantity.scale >= scale
    ? quantity.amount * 10n ** BigInt(quantity.scale - scale)
    : divideAwayFromZero(quantity.amount, 10n ** BigInt(scale - quantity.scale))
}

// ---- reading

const BAD_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const BAD_NUMBER = 'unable to parse numeric part of quantity'
const BAD_SUFFIX = "unable to parse quantity's suffix"

const NANO = -9
const MAX_LENGTH = 1000
const MAX_EXPONENT = 1000

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])

const BINARY_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
])

interface SuffixMeaning {
  readonly format: QuantityFormat
  /** The exponent of 2 for BinarySI, otherwise of 10. */
  readonly exponent: number
}

function readSuffix(suffix: string): SuffixMeaning | undefined {
  const binary = BINARY_SUFFIXES.get(suffix)
  if (binary !== undefined) return { format: 'BinarySI', exponent: binary }
  const decimal = DECIMAL_SUFFIXES.get(suffix)
  if (decimal !== undefined) return { format: 'DecimalSI', exponent: decimal }
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) return undefined
  const exponent = Number(suffix.slice(1))
  // Exponents far below a billionth all round alike; exponents far above would only use up memory.
  if (exponent > MAX_EXPONENT) return undefined
  return { format: 'DecimalExponent', exponent: Math.max(exponent, -2 * MAX_EXPONENT) }
}

/** kube-apiserver's own estimate of whether it can parse the number without big decimals. */
function fitsInt64(num: string, fraction: string, { format, exponent }: SuffixMeaning): boolean {
  if (format !== 'BinarySI') return num.length + fraction.length <= 18
  return fraction.length === 0 && 15 - num.length - Math.trunc((exponent * 3) / 10) - 1 >= 0
}

const isWrittenCanonically = (digits: string, scale: number): boolean =>
  scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')

function rounded(amount: bigint, scale: number, format: QuantityFormat): Quantity {
  const kept = scaledQuantity({ amount, scale, format, wide: true }, NANO)
  const quantity = { amount: kept, scale: NANO, format, wide: true }
  if (format !== 'BinarySI') return quantity
  if (compareQuantities(absolute(quantity), quantityOf(MAX_INT64)) > 0) {
    return { amount: kept < 0n ? -MAX_INT64 : MAX_INT64, scale: 0, format, wide: true }
  }
  // Numbers below one have no binary suffix.
  const small = kept !== 0n && compareQuantities(absolute(quantity), quantityOf(1n)) < 0
  return small ? { ...quantity, format: 'DecimalSI' } : quantity
}

// ---- writing

const SUFFIX_OF_SCALE: ReadonlyMap<number, string> = new Map(
  [...DECIMAL_SUFFIXES].map(([suffix, scale]) => [scale, suffix]),
)
const BINARY_SUFFIX_NAMES = ['', ...BINARY_SUFFIXES.keys()]

function canonical(quantity: Quantity): string {
  if (quantity.amount === 0n) return '0'
  if (quantity.format === 'BinarySI') {
    const binary = printBinary(quantity)
    if (binary !== undefined) return binary
  }
  let { amount, scale } = quantity
  while (amount % 10n === 0n) {
    amount /= 10n
    scale += 1
  }
  while (scale % 3 !== 0) {
    amount *= 10n
    scale -= 1
  }
  const suffix = quantity.format === 'DecimalExponent' ? undefined : SUFFIX_OF_SCALE.get(scale)
  // Beyond the last suffix an exponent keeps the value; kube-apiserver drops the suffix, and thereby the value.
  return `${amount}${suffix ?? (scale === 0 ? '' : `e${scale}`)}`
}

/** Only integers from 1024 on are printed with binary suffixes. */
function printBinary(quantity: Quantity): string | undefined {
  if (compareQuantities(absolute(quantity), quantityOf(1024n)) < 0) return undefined
  let amount = scaledQuantity(quantity, 0)
  if (compareQuantities(quantity, quantityOf(amount)) !== 0) return undefined
  let step = 0
  while (amount % 1024n === 0n && step < BINARY_SUFFIX_NAMES.length - 1) {
    amount /= 1024n
    step += 1
  }
  return `${amount}${BINARY_SUFFIX_NAMES[step]}`
}

// ---- arithmetic

const unscaled = ({ amount, scale }: Quantity, at: number): bigint => amount * 10n ** BigInt(scale - at)

const absolute = (quantity: Quantity): Quantity => (quantity.amount < 0n ? negateQuantity(quantity) : quantity)

function divideAwayFromZero(amount: bigint, by: bigint): bigint {
  const quotient = amount / by
  if (amount % by === 0n) return quotient
  return amount < 0n ? quotient - 1n : quotient + 1n
}
