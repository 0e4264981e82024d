// Resolves plain YAML scalars by the rules of YAML 1.1, as Kubernetes' library implements them: `yes` and `off` are
// booleans, `010` is eight, `1_000` a thousand; base 60 numbers and timestamps stay strings.

/** A scalar with its type: bigint for integers (up to 2^64), number for floats, Timestamp for a string that is a time. */
export type Scalar = null | boolean | bigint | number | string | Timestamp

/** It stays a string, but must be quoted when it is printed. */
export class Timestamp {
  constructor(readonly text: string) {}
}

const WORDS = new Map<string, Scalar>()
const define = (value: Scalar, ...words: string[]): void => {
  for (const word of words) WORDS.set(word, value)
}
define(true, 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON')
define(false, 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF')
define(null, '', '~', 'null', 'Null', 'NULL')
define(Number.NaN, '.nan', '.NaN', '.NAN')
define(Number.POSITIVE_INFINITY, '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF')
define(Number.NEGATIVE_INFINITY, '-.inf', '-.Inf', '-.INF')

const MAX_WORD = 5

export function resolveScalar(text: string): Scalar {
  if (text.length <= MAX_WORD) {
    const word = WORDS.get(text)
    if (word !== undefined) return word
  }
  const c = text.charCodeAt(0)
  if (c === 0x2e) return parseFloatFrom(POINT_FLOAT, text, text.replaceAll('_', ''))
  if (c === 0x2b || c === 0x2d || (c >= 0x30 && c <= 0x39)) return resolveNumber(text)
  return text
}

const POINT_FLOAT = /^\.\d+(?:_\d+)*(?:[eE][-+]?\d+)?$/
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const INTEGER = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/

function resolveNumber(text: string): Scalar {
  if (isTimestamp(text)) return new Timestamp(text)
  const plain = text.includes('_') ? text.replaceAll('_', '') : text
  // An integer beyond 64 bits is a float, so long digit strings need not be parsed as integers.
  const integer = plain.length <= 70 ? parseInteger(plain) : undefined
  return integer ?? parseFloatFrom(FLOAT, text, plain)
}

function parseInteger(plain: string): bigint | undefined {
  const match = INTEGER.exec(plain)
  if (match === null) return undefined
  const [, sign, hex, binary, octal, decimal] = match
  const prefix = hex ? '0x' : binary ? '0b' : octal ? '0o' : ''
  const size = BigInt(prefix + (hex ?? binary ?? octal ?? decimal))
  if (sign === '-') return size <= 2n ** 63n ? -size : undefined
  return size < (sign === '' ? 2n ** 64n : 2n ** 63n) ? size : undefined
}

function parseFloatFrom(pattern: RegExp, text: string, plain: string): Scalar {
  if (!pattern.test(pattern === POINT_FLOAT ? text : plain)) return text
  const float = Number(plain)
  return Number.isFinite(float) ? float : text
}

const TIMESTAMP =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| +(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?)?$/

export function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text)
  if (match === null) return false
  const part = (group: number): number => Number(match[group] ?? 0)
  const [year, month, day] = [part(1), part(2), part(3)]
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  if (month < 1 || month > 12 || day < 1 || day > lastDay) return false
  return part(4) + part(7) <= 23 && part(5) + part(8) <= 59 && part(6) + part(9) <= 59
}
