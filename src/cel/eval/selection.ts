// Steps into values: fields, keys and indexes, plain and optional, and the cost of a step.
import { CelError, isError } from '../cel-error.js'
import { isList, MapValue, ObjectValue, OPTIONAL_NONE, OptionalValue, type Value } from '../values/values.js'
import { type Compiled, type Evaluate, spend } from './frame.js'
import { indexInto, invalidQualifier, noSuchKey } from './operators.js'

/** Thrown for a constant part that cannot be computed; the message says why. */
export class InstantiationError extends Error {}

/** A step further into a value: 1, and 1 more if the first operand is no name. */
export function qualify(operand: Compiled, step: (value: Value) => Value): Compiled {
  const after =
    (run: Evaluate, cost: number): Evaluate =>
    frame => {
      const value = run(frame)
      if (isError(value)) return value
      spend(frame, cost)
      return step(value)
    }
  if (operand.branch) return { run: after(operand.run, 1), branch: after(operand.branch, 1) }
  return { run: after(operand.run, 2), branch: after(operand.run, 1) }
}

/** `operand.field`. A field of a name is the most frequent expression in rules, so it is one step. */
export function select(operand: Compiled, field: string): Compiled {
  const { read } = operand
  if (read === undefined) return qualify(operand, value => selectField(value, field))
  return {
    run: frame => {
      spend(frame, 1)
      const value = read(frame)
      if (value instanceof CelError) return value
      spend(frame, 1)
      return selectField(value, field)
    },
    branch: frame => {
      const value = read(frame)
      if (value instanceof CelError) return value
      spend(frame, 1)
      return selectField(value, field)
    },
  }
}

export function selectField(value: Value, field: string): Value {
  if (value instanceof ObjectValue || value instanceof MapValue) {
    const found = value.get(field)
    return found === undefined ? noSuchKey(field) : found
  }
  return value instanceof OptionalValue ? optionalField(value, field) : indexInto(value, field)
}

/** `value.?field`. */
export function optionalField(value: Value, field: string): Value {
  const inner = value instanceof OptionalValue ? value.value : value
  if (inner === undefined) return OPTIONAL_NONE
  const found = findField(inner, field)
  if (found === undefined) return OPTIONAL_NONE
  return isError(found) ? found : new OptionalValue(found)
}

/** `value[?key]`. */
export function optionalIndex(value: Value, key: Value): Value {
  const inner = value instanceof OptionalValue ? value.value : value
  if (inner === undefined) return OPTIONAL_NONE
  const unusable = invalidQualifier(key)
  if (unusable) return unusable
  if (inner instanceof MapValue) {
    const found = inner.get(key)
    return found === undefined || isError(found) ? OPTIONAL_NONE : new OptionalValue(found)
  }
  if (!isList(inner)) return OPTIONAL_NONE
  const found = indexInto(inner, key)
  if (!isError(found)) return new OptionalValue(found)
  return found.message.startsWith('index out of bounds') ? OPTIONAL_NONE : found
}

export function hasField(value: Value, field: string): Value {
  const inner = value instanceof OptionalValue ? value.value : value
  if (inner === undefined) return false
  if (inner instanceof ObjectValue || inner instanceof MapValue) {
    // A value that cannot be converted is present all the same.
    return inner.get(field) !== undefined
  }
  return findField(inner, field) ?? false
}

/** The value of a field; undefined if there is none, as in scalars and null. A list has an error, since it has no fields. */
function findField(value: Value, field: string): Value | undefined {
  if (value instanceof ObjectValue || value instanceof MapValue) return value.get(field)
  return isList(value) ? indexInto(value, field) : undefined
}
