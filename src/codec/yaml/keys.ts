// The keys of a YAML map: what makes two of them the same, and the text that each becomes in JSON.
import { MAX_INT64, printFloat } from '../../meta/go/go-text.js'
import { type Scalar, Timestamp } from './resolve.js'

/** The type of a scalar as its tag names it. */
export function typeOf(scalar: Scalar): string {
  if (scalar === null) return 'null'
  if (scalar instanceof Timestamp) return 'timestamp'
  return { boolean: 'bool', bigint: 'int', number: 'float', string: 'str' }[typeof scalar as 'boolean']
}

/** Keys of different types are different, though their texts may be the same. */
export function keyIdentity(scalar: Scalar): string {
  if (scalar instanceof Timestamp) return `str ${scalar.text}`
  return `${typeOf(scalar)} ${scalar}`
}

/** A key as JSON has it; undefined for what cannot be one: null, and integers beyond an int64. */
export function keyText(scalar: Scalar): string | undefined {
  if (scalar instanceof Timestamp) return scalar.text
  if (scalar === null || (typeof scalar === 'bigint' && scalar > MAX_INT64)) return undefined
  if (typeof scalar !== 'number') return String(scalar)
  const text = printFloat(shortenToFloat32(scalar))
  return { '+Inf': '.inf', '-Inf': '-.inf', NaN: '.nan' }[text] ?? text
}

/** The number with the fewest digits that is the same float32: keys are printed with that precision. */
function shortenToFloat32(float: number): number {
  const single = Math.fround(float)
  for (let digits = 1; digits < 10; digits++) {
    const short = Number(single.toPrecision(digits))
    if (Math.fround(short) === single) return short
  }
  return single
}
