// The operators for values of any types.
import { printFloat } from '../../meta/go/go-text.js'
import { CelError, EvaluationAborted, isError, NO_SUCH_OVERLOAD, noSuchOverload } from '../cel-error.js'
import type { WorkBudget } from '../cost/work-budget.js'
import { DURATION_OVERFLOW, Duration, durationOf, laterBy, nanosOf, Timestamp } from '../values/moments.js'
import {
  addInts,
  checkedUint,
  DIVISION_BY_ZERO,
  Double,
  divideInts,
  isInt,
  MODULUS_BY_ZERO,
  moduloInts,
  multiplyInts,
  negateInt,
  subtractInts,
  Uint,
} from '../values/numbers.js'
import {
  CelMap,
  Concatenation,
  concatLists,
  equal,
  isList,
  itemAt,
  type List,
  ListValue,
  MapValue,
  OpaqueValue,
  OptionalValue,
  sizeOfList,
  TypeValue,
  typeName,
  type Value,
} from '../values/values.js'

export function add(budget: WorkBudget, a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? addInts(a, b) : NO_SUCH_OVERLOAD
  if (typeof a === 'string') return typeof b === 'string' ? a + b : NO_SUCH_OVERLOAD
  if (a instanceof Double) return b instanceof Double ? new Double(a.value + b.value) : NO_SUCH_OVERLOAD
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value + b.value) : NO_SUCH_OVERLOAD
  if (isList(a)) return isList(b) ? concatLists(a, b, budget) : NO_SUCH_OVERLOAD
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.concat([a, b]) : NO_SUCH_OVERLOAD
  if (a instanceof Duration) {
    if (b instanceof Duration) return durationOf(a.nanos + b.nanos)
    return b instanceof Timestamp ? laterBy(b, a.nanos) : NO_SUCH_OVERLOAD
  }
  if (a instanceof Timestamp) return b instanceof Duration ? laterBy(a, b.nanos) : NO_SUCH_OVERLOAD
  return unfit(a, '_+_')
}

export function subtract(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? subtractInts(a, b) : NO_SUCH_OVERLOAD
  if (a instanceof Double) return b instanceof Double ? new Double(a.value - b.value) : NO_SUCH_OVERLOAD
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value - b.value) : NO_SUCH_OVERLOAD
  if (a instanceof Duration) return b instanceof Duration ? durationOf(a.nanos - b.nanos) : NO_SUCH_OVERLOAD
  if (a instanceof Timestamp) {
    if (b instanceof Duration) return laterBy(a, -b.nanos)
    if (!(b instanceof Timestamp)) return NO_SUCH_OVERLOAD
    const span = durationOf(nanosOf(a) - nanosOf(b))
    return isError(span) ? DURATION_OVERFLOW : span
  }
  return unfit(a, '_-_')
}

export function multiply(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? multiplyInts(a, b) : NO_SUCH_OVERLOAD
  if (a instanceof Double) return b instanceof Double ? new Double(a.value * b.value) : NO_SUCH_OVERLOAD
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value * b.value) : NO_SUCH_OVERLOAD
  return unfit(a, '_*_')
}

export function divide(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? divideInts(a, b) : NO_SUCH_OVERLOAD
  if (a instanceof Double) return b instanceof Double ? new Double(a.value / b.value) : NO_SUCH_OVERLOAD
  if (!(a instanceof Uint)) return unfit(a, '_/_')
  if (!(b instanceof Uint)) return NO_SUCH_OVERLOAD
  return b.value === 0n ? DIVISION_BY_ZERO : new Uint(a.value / b.value)
}

export function modulo(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? moduloInts(a, b) : NO_SUCH_OVERLOAD
  if (!(a instanceof Uint)) return unfit(a, '_%_')
  if (!(b instanceof Uint)) return NO_SUCH_OVERLOAD
  return b.value === 0n ? MODULUS_BY_ZERO : new Uint(a.value % b.value)
}

export function negate(a: Value): Value {
  if (isInt(a)) return negateInt(a)
  // Only a value of unknown type gets here as a duration.
  if (a instanceof Duration) return durationOf(-a.nanos)
  return a instanceof Double ? new Double(-a.value) : unfit(a, '-_')
}

export const not = (a: Value): Value => (typeof a === 'boolean' ? !a : NO_SUCH_OVERLOAD)

/** The error of a text, timestamp or duration does not name the operator. */
export const unfit = (a: Value, operator: string): CelError =>
  typeof a === 'string' || a instanceof Timestamp || a instanceof Duration ? NO_SUCH_OVERLOAD : noSuchOverload(operator)

export function isIn(budget: WorkBudget, element: Value, container: Value): Value {
  if (isList(container)) return listContains(container, element, budget)
  if (!(container instanceof MapValue)) return NO_SUCH_OVERLOAD
  if (container instanceof CelMap && container.size > 0) checkHashable(element)
  const found = container.get(element)
  return isError(found) ? found : found !== undefined
}

function listContains(list: List, element: Value, budget: WorkBudget): boolean {
  if (Array.isArray(list) && (typeof element === 'string' || typeof element === 'boolean'))
    return list.includes(element)
  const size = sizeOfList(list)
  for (let i = 0; i < size; i++) if (equal(element, itemAt(list, i), budget)) return true
  return false
}

/** The element at an index, the value of a key, or the error of there being none. */
export function indexInto(container: Value, key: Value): Value {
  const unusable = invalidQualifier(key)
  if (unusable) return unusable
  if (isList(container)) {
    const index = listIndex(key)
    if (typeof index !== 'number') return index
    if (index < 0 || index >= sizeOfList(container)) return outOfBounds(key)
    if (typeof key !== 'number' && container instanceof ListValue && container.intIndexOnly === true) {
      return new CelError(`unsupported index: ${printKey(key)}`)
    }
    return itemAt(container, index)
  }
  if (!(container instanceof MapValue)) return noSuchKey(key)
  const found = container.get(key)
  return found === undefined ? noSuchKey(key) : found
}

/** Only numbers, texts and booleans are steps into a value, even if a map has other keys. */
export function invalidQualifier(key: Value): CelError | undefined {
  if (key === null) return new CelError('invalid qualifier type: types.Null')
  if (typeof key !== 'object' || key instanceof Uint || key instanceof Double) return undefined
  return new CelError(`invalid qualifier type: ${goTypeOf(key)}`)
}

/** Go cannot look up a slice in a map, nor a structure with one. */
export function checkHashable(key: Value): void {
  if (key instanceof Uint8Array || (key instanceof OpaqueValue && key.type.name === 'kubernetes.Semver'))
    throw new EvaluationAborted(`internal error: runtime error: hash of unhashable type ${goTypeOf(key)}`)
}

/** The type of a value in cel-go, which its messages name. */
function goTypeOf(value: Exclude<Value, null>): string {
  if (value instanceof Uint8Array) return 'types.Bytes'
  if (value instanceof Timestamp) return 'types.Timestamp'
  if (value instanceof Duration) return 'types.Duration'
  if (value instanceof OptionalValue) return '*types.Optional'
  if (value instanceof TypeValue) return '*types.Type'
  if (value instanceof OpaqueValue) {
    const name = value.type.name.slice(value.type.name.lastIndexOf('.') + 1)
    return name === 'NamedFormat' ? '*cel.Format' : `cel.${name}`
  }
  if (value instanceof Concatenation) return '*types.concatList'
  return isList(value) ? '*types.baseList' : '*types.baseMap'
}

function listIndex(key: Value): number | CelError {
  if (typeof key === 'number') return key
  if (typeof key === 'bigint') return outOfBounds(key)
  if (key instanceof Uint) return Number(key.value)
  if (key instanceof Double) {
    return isWholeIndex(key.value)
      ? key.value
      : new CelError(`unsupported index value ${printFloat(key.value)} in list`)
  }
  return new CelError(`unsupported index type '${typeName(key)}' in list`)
}

const isWholeIndex = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63

export const outOfBounds = (index: Value): CelError => new CelError(`index out of bounds: ${printKey(index)}`)

export const noSuchKey = (key: Value): CelError => new CelError(`no such key: ${printKey(key)}`)

/** A key or index as messages show it. */
export function printKey(key: Value): string {
  if (key instanceof Uint) return String(key.value)
  if (key instanceof Double) return printFloat(key.value)
  return typeof key === 'object' ? typeName(key) : String(key)
}
