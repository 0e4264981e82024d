// The order of values: <, <=, >, >=, and what sorts and finds the smallest.
import { compareTexts } from '../../meta/go/go-text.js'
import { CelError, NO_SUCH_OVERLOAD, noSuchOverload } from '../cel-error.js'
import { compareTimestamps, Duration, Timestamp } from '../values/moments.js'
import { Double, isInt, Uint } from '../values/numbers.js'
import { compareAnyNumbers, type Value } from '../values/values.js'

const NO_ORDER = new CelError('NaN values cannot be ordered')

/** Negative, 0 or positive, or the error of not being comparable. */
export function compare(a: Value, b: Value, operator = '_<_'): number | CelError {
  if (isInt(a) || a instanceof Double || a instanceof Uint) {
    if (!isInt(b) && !(b instanceof Double) && !(b instanceof Uint)) return NO_SUCH_OVERLOAD
    const order = compareAnyNumbers(a, b)
    return Number.isNaN(order) ? NO_ORDER : order
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareTexts(a, b) : NO_SUCH_OVERLOAD
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : NO_SUCH_OVERLOAD
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareTimestamps(a, b) : NO_SUCH_OVERLOAD
  if (a instanceof Duration) {
    if (!(b instanceof Duration)) return NO_SUCH_OVERLOAD
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
  }
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : NO_SUCH_OVERLOAD
  return noSuchOverload(operator)
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}
