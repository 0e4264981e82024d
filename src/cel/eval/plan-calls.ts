// Calls to closures: operators that evaluate their operands one by one, indexes, and the accumulators of macros. Functions
// are in plan-functions.ts.
import { CelError, isError, NO_SUCH_OVERLOAD } from '../cel-error.js'
import { type CallExpr, type Expr, type ListExpr, OPERATORS } from '../syntax/syntax-tree.js'
import { CelMap, MapValue, OptionalValue, type Value } from '../values/values.js'
import { type Compiled, type Evaluate, LIST_COST, spend } from './frame.js'
import { checkHashable, indexInto, invalidQualifier, printKey } from './operators.js'
import { type Compiler, invoke } from './plan-functions.js'
import { InstantiationError, optionalField, optionalIndex, qualify } from './selection.js'

export function compileCall(compiler: Compiler, expr: CallExpr): Compiled {
  switch (expr.name) {
    case OPERATORS.and:
      return logic(compiler, expr, false)
    case OPERATORS.or:
      return logic(compiler, expr, true)
    case OPERATORS.conditional:
      return conditional(compiler, expr)
    case OPERATORS.index:
      return index(compiler, expr, plainIndex)
    case OPERATORS.optionalIndex:
      return index(compiler, expr, optionalIndex)
    case OPERATORS.optionalSelect: {
      const [operand, field] = expr.args
      const name = (field as { value?: unknown }).value as string
      return qualify(compiler.compile(operand!), value => optionalField(value, name))
    }
    case OPERATORS.add: {
      const slot = compiler.accumulatorSlot(expr.args[0]!)
      const [, more] = expr.args
      if (slot !== undefined && more!.kind === 'list') return append(compiler, more!, slot)
      return invoke(compiler, expr)
    }
    case 'cel.@mapInsert':
      return insert(compiler, expr)
    case 'or':
    case 'orValue':
      return expr.target && expr.args.length === 1 ? orElse(compiler, expr, expr.target) : invoke(compiler, expr)
    default:
      return invoke(compiler, expr)
  }
}

/** && and ||: the deciding value on one side outweighs an error on the other. */
function logic(compiler: Compiler, expr: CallExpr, decides: boolean): Compiled {
  const [left, right] = expr.args.map(arg => compiler.compile(arg).run) as [Evaluate, Evaluate]
  return {
    run: frame => {
      const a = left(frame)
      if (a === decides) return decides
      const b = right(frame)
      if (b === decides) return decides
      if (typeof a !== 'boolean') return isError(a) ? a : NO_SUCH_OVERLOAD
      if (typeof b !== 'boolean') return isError(b) ? b : NO_SUCH_OVERLOAD
      return !decides
    },
  }
}

function conditional(compiler: Compiler, expr: CallExpr): Compiled {
  const [condition, then, otherwise] = expr.args.map(arg => compiler.compile(arg)) as [Compiled, Compiled, Compiled]
  const onTrue = then.branch ?? then.run
  const onFalse = otherwise.branch ?? otherwise.run
  const run: Evaluate = frame => {
    const value = condition.run(frame)
    if (value === true) return onTrue(frame)
    if (value === false) return onFalse(frame)
    return isError(value) ? value : NO_SUCH_OVERLOAD
  }
  return { run, branch: run }
}

/** `value[key]`. */
export const plainIndex = (value: Value, key: Value): Value =>
  value instanceof OptionalValue ? optionalIndex(value, key) : indexInto(value, key)

function index(compiler: Compiler, expr: CallExpr, get: (value: Value, key: Value) => Value): Compiled {
  const [operandExpr, keyExpr] = expr.args as [Expr, Expr]
  const operand = compiler.compile(operandExpr)
  const key = compiler.compile(keyExpr)
  if (key.constant !== undefined) {
    const known = key.constant
    const unusable = invalidQualifier(known)
    if (unusable) throw new InstantiationError(unusable.message)
    return qualify(operand, value => get(value, known))
  }
  // The cost of looking up a name as the index is the cost of the index.
  const cost = key.branch ? 0 : 1
  const after =
    (run: Evaluate, base: number): Evaluate =>
    frame => {
      const value = run(frame)
      if (isError(value)) return value
      const at = key.run(frame)
      if (isError(at)) return at
      spend(frame, base + cost)
      return get(value, at)
    }
  return operand.branch
    ? { run: after(operand.run, 0), branch: after(operand.branch, 0) }
    : { run: after(operand.run, 1), branch: after(operand.run, 0) }
}

/** `accumulator + [element]` of the macros: only the loop has the accumulator, so it grows in place. */
function append(compiler: Compiler, list: ListExpr, slot: number): Compiled {
  const [only] = list.elements
  if (list.elements.length === 1 && list.optional.length === 0) {
    const { run, constant: known } = compiler.compile(only!)
    const price = known === undefined ? LIST_COST : 0
    return {
      run: frame => {
        const accu = frame.locals[slot]!
        spend(frame, 2)
        const item = run(frame)
        if (!isError(item)) spend(frame, price)
        if (isError(accu)) return accu
        if (isError(item)) return item
        if (!Array.isArray(accu)) return NO_SUCH_OVERLOAD
        accu.push(item)
        return accu
      },
    }
  }
  const { run } = compiler.compile(list)
  return {
    run: frame => {
      const accu = frame.locals[slot]!
      spend(frame, 2)
      const more = run(frame)
      if (isError(accu)) return accu
      if (isError(more)) return more
      if (!Array.isArray(accu)) return NO_SUCH_OVERLOAD
      for (const item of more as readonly Value[]) accu.push(item)
      return accu
    },
  }
}

/** `optional.or(other)` and `optional.orValue(other)`: the other is only evaluated if there is no value. */
function orElse(compiler: Compiler, expr: CallExpr, target: Expr): Compiled {
  const { run } = compiler.compile(target)
  const other = compiler.compile(expr.args[0]!).run
  return {
    run: frame => {
      const optional = run(frame)
      if (isError(optional)) return optional
      // Only a value of an unknown type can be no optional here.
      if (!(optional instanceof OptionalValue)) return optional
      if (optional.value === undefined) return other(frame)
      return expr.name === 'or' ? optional : optional.value
    },
  }
}

/** `cel.@mapInsert(map, key, value)` or `(map, entries)`, in place likewise. */
function insert(compiler: Compiler, expr: CallExpr): Compiled {
  const args = expr.args.map(arg => compiler.compile(arg).run)
  return {
    run: frame => {
      const values: Value[] = []
      for (const arg of args) {
        const value = arg(frame)
        if (isError(value)) return value
        values.push(value)
      }
      spend(frame, 1)
      const [map, key, value] = values
      if (!(map instanceof CelMap)) return NO_SUCH_OVERLOAD
      const entries = value === undefined ? [...entriesOf(key!)] : [[key!, value] as const]
      for (const [k, v] of entries) {
        checkHashable(k)
        if (map.has(k)) return new CelError(`insert failed: key ${printKey(k)} already exists`)
        map.set(k, v)
      }
      return map
    },
  }
}

function* entriesOf(map: Value): Generator<readonly [Value, Value]> {
  if (map instanceof MapValue) for (const key of map.keys()) yield [key, map.get(key)!]
}
