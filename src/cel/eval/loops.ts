// Iterating macros at run time: a fold over a list or map, and all() and exists() in a shorter form.
import { CelError, isError, NO_SUCH_OVERLOAD } from '../cel-error.js'
import { isList, itemAt, MapValue, sizeOfList, typeOfValue, type Value } from '../values/values.js'
import { type Evaluate, type Frame, spend } from './frame.js'

export interface Fold {
  readonly range: Evaluate
  readonly init: Evaluate
  /** Left out where it is always true. */
  readonly condition: Evaluate | undefined
  readonly step: Evaluate
  readonly result: Evaluate
  readonly accu: number
  readonly first: number
  readonly second: number | undefined
}

export function fold({ range, init, condition, step, result, accu, first, second }: Fold): Evaluate {
  const turn: Turn = frame => {
    if (condition !== undefined && condition(frame) === false) return false
    frame.locals[accu] = step(frame)
    return true
  }
  const each = iterate(first, second)
  return frame => {
    const over = range(frame)
    if (isError(over)) return over
    frame.locals[accu] = init(frame)
    const error = each(frame, over, turn)
    return error ?? result(frame)
  }
}

export interface Quantifier {
  readonly range: Evaluate
  readonly predicate: Evaluate
  /** The value that ends it: false for all(), true for exists(). */
  readonly decides: boolean
  readonly first: number
  readonly second: number | undefined
}

/** `accumulator && predicate` or `accumulator || predicate` for each element, until that is decided. */
export function quantify({ range, predicate, decides, first, second }: Quantifier): Evaluate {
  // Before each turn the accumulator is looked up and tested with @not_strictly_false; exists() negates it, too.
  const conditionCost = decides ? 3 : 2
  const each = iterate(first, second)
  return frame => {
    const over = range(frame)
    if (isError(over)) return over
    let found: Value = !decides
    const error = each(frame, over, () => {
      spend(frame, conditionCost)
      if (found === decides) return false
      spend(frame, 1)
      const holds = predicate(frame)
      if (holds === decides) found = decides
      else if (typeof holds !== 'boolean' && typeof found === 'boolean')
        found = isError(holds) ? holds : NO_SUCH_OVERLOAD
      return true
    })
    if (error) return error
    spend(frame, 1)
    return found
  }
}

/** False ends the loop. */
type Turn = (frame: Frame) => boolean

/** Takes turns with the variables set, or returns the error that the range is not iterable. */
function iterate(first: number, second: number | undefined) {
  return (frame: Frame, over: Value, turn: Turn): CelError | undefined => {
    const { locals } = frame
    if (isList(over)) {
      const size = sizeOfList(over)
      for (let i = 0; i < size; i++) {
        const item = itemAt(over, i)
        if (second === undefined) locals[first] = item
        else {
          locals[first] = i
          locals[second] = item
        }
        if (!turn(frame)) break
      }
    } else if (over instanceof MapValue) {
      for (const key of over.keys()) {
        locals[first] = key
        if (second !== undefined) locals[second] = over.get(key)
        if (!turn(frame)) break
      }
    } else return new CelError(`got '${goType(over)}', expected iterable type`)
    return undefined
  }
}

/** The name of the kind of a value in messages of cel-go. */
function goType(value: Value): string {
  const { kind, name } = typeOfValue(value)
  return `types.${kind === 'opaque' || kind === 'object' ? name : kind[0]!.toUpperCase() + kind.slice(1)}`
}
