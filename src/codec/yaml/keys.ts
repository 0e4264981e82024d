// The keys of a YAML map: when two of them are equal, and the string that each becomes in JSON.
import { MAX_INT64, printFloat } from '../../meta/go/go-text.js'
import { type Scalar, Timestamp } from './resolve.js'

/** The type of a scalar, by its tag's name. */
export function typeOf(scalar: Scalar): string {
  if (scalar === null) return 'null'
  if (scalar instanceof Timestamp) return 'timestamp'
  return { boolean: 'bool', bigint: 'int', number: 'float', string: 'str' }[typeof scalar as 'boolean']
}

/** Keys of different types are different, even if their texts are equal. */
export function keyIdentity(scalar: Scalar): string {
  if (scalar instanceof Timestamp) return `str ${scalar.text}`
  return `${typeOf(scalar)} ${scalar}`
}

/** The key in JSON; undefined for null and for integers beyond int64, which cannot be keys. */
export function keyText(scalar: Scalar): string | undefined {
  if (scalar instanceof Timestamp) return scalar.text
  if (scalar === null || (typeof scalar === 'bigint' && scalar > MAX_INT64)) return undefined
  if (typeof scalar !== 'number') return String(scalar)
  const text = printFloat(shortenToFloat32(scalar))
  return { '+Inf': '.inf', '-Inf': '-.inf', NaN: '.nan' }[text] ?? text
}

/** The shortest decimal with the same float32 value: keys are printed with that precision. */
function shortenToFloat32(float: number): number {
  const single = Math.fround(float)
  for (let digits = 1; digits < 10; digits++) {
    const short = Number(single.toPrecision(digits))
    if (Math.fround(short) === single) return short
  }
  return single
}
