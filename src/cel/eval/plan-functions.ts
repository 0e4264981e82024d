// Calls of functions to closures: which overloads a call has, which of them fits its arguments, and what it costs.
import { CelError, EvaluationAborted, isError, NO_SUCH_OVERLOAD } from '../cel-error.js'
import type { CelType } from '../check/cel-type.js'
import type { Reference } from '../check/checker.js'
import { WorkBudget } from '../cost/work-budget.js'
import { candidateNames, type Environment, type Overload } from '../environment.js'
import { type CallExpr, type Expr, OPERATORS } from '../syntax/syntax-tree.js'
import {
  CelMap,
  isList,
  MapValue,
  ObjectValue,
  OpaqueValue,
  OptionalValue,
  sizeOfList,
  TypeValue,
  typeName,
  typeOfValue,
  type Value,
} from '../values/values.js'
import { type DirectBinary, type DirectUnary, directBinary, directUnary } from './direct-operators.js'
import { type Compiled, constant, type Evaluate, type Frame, spend } from './frame.js'
import { InstantiationError } from './selection.js'

/** The compiler of the parts of a call. */
export interface Compiler {
  readonly environment: Environment
  compile(expr: Expr): Compiled
  typeOf(expr: Expr): CelType | undefined
  referenceOf(expr: Expr): Reference | undefined
  /** The name of a chain of selections that does not begin with a local variable. */
  qualifiedName(expr: Expr): string | undefined
  /** The slot of the accumulator if the expression is it. */
  accumulatorSlot(expr: Expr): number | undefined
}

export function invoke(compiler: Compiler, expr: CallExpr): Compiled {
  const { name, overloads, args } = resolve(compiler, expr)
  const compiled = args.map(arg => compiler.compile(arg))
  const target = implementation(name, overloads)
  for (const { constantError } of overloads) {
    const last = compiled.at(overloads[0]!.params.length > 2 ? 1 : -1)?.constant
    const error = last === undefined ? undefined : constantError?.(last)
    if (error) throw new InstantiationError(error.message)
  }
  const folded = fold(name, overloads, compiled, target)
  if (folded) return folded
  const runs = compiled.map(arg => arg.run)
  const breaksOff = overloads.some(overload => overload.breaksOffOnError)
  const [only] = overloads.length === 1 ? overloads : []
  switch (runs.length) {
    case 0:
      return { run: frame => target(frame, []) }
    case 1: {
      const [operand] = runs as [Evaluate]
      const direct = only && directUnary(only, compiler.typeOf(args[0]!))
      if (direct) return { run: unary(operand, direct, target) }
      const unguarded = overloads.some(overload => overload.unguarded)
      return {
        run: frame => {
          const value = operand(frame)
          if (isError(value) && !unguarded) {
            if (breaksOff) throw new EvaluationAborted(NO_LIST)
            spend(frame, 1)
            return value
          }
          return target(frame, [value])
        },
      }
    }
    case 2: {
      const [first, second] = runs as [Evaluate, Evaluate]
      const types = args.map(arg => compiler.typeOf(arg))
      const direct = only && directBinary(only, types)
      if (direct) return { run: binary(first, compiled[1]!, direct, target) }
      return {
        run: frame => {
          // Both operands are evaluated, whatever becomes of the first.
          const a = first(frame)
          const b = second(frame)
          if (a instanceof CelError || b instanceof CelError) {
            if (breaksOff) throw new EvaluationAborted(NO_LIST)
            spend(frame, 1)
            return a instanceof CelError ? a : b
          }
          return target(frame, [a, b])
        },
      }
    }
    default:
      return {
        run: frame => {
          const values: Value[] = []
          for (const run of runs) {
            const value = run(frame)
            if (isError(value)) return value
            values.push(value)
          }
          return target(frame, values)
        },
      }
  }
}

/** In Go's words. */
const NO_LIST = 'internal error: interface conversion: *types.Err is not traits.Lister: missing method Add'

function unary(operand: Evaluate, { fits, call }: DirectUnary, otherwise: Invoke): Evaluate {
  return frame => {
    const value = operand(frame)
    if (!fits(value) && !(value instanceof CelError)) return otherwise(frame, [value])
    spend(frame, 1)
    return value instanceof CelError ? value : call(value)
  }
}

function binary(
  first: Evaluate,
  { run: second, constant: known }: Compiled,
  { fits, call, cost }: DirectBinary,
  otherwise: Invoke,
): Evaluate {
  if (known !== undefined) {
    return frame => {
      const a = first(frame)
      if (fits(a)) {
        spend(frame, cost === undefined ? 1 : cost(a, known, frame.budget))
        return call(a, known)
      }
      if (!(a instanceof CelError)) return otherwise(frame, [a, known])
      spend(frame, 1)
      return a
    }
  }
  return frame => {
    const a = first(frame)
    const b = second(frame)
    if (fits(a) && fits(b)) {
      spend(frame, cost === undefined ? 1 : cost(a, b, frame.budget))
      return call(a, b)
    }
    if (!(a instanceof CelError || b instanceof CelError)) return otherwise(frame, [a, b])
    spend(frame, 1)
    return a instanceof CelError ? a : b
  }
}

interface Resolved {
  readonly name: string
  readonly overloads: readonly Overload[]
  readonly args: readonly Expr[]
}

function resolve(compiler: Compiler, expr: CallExpr): Resolved {
  const reference = compiler.referenceOf(expr)
  const all = expr.target ? [expr.target, ...expr.args] : expr.args
  if (reference?.kind === 'function') {
    const { name, overloads, namespaced } = reference
    return { name, overloads, args: namespaced ? expr.args : all }
  }
  const { functions, container } = compiler.environment
  if (expr.target) {
    const prefix = compiler.qualifiedName(expr.target)
    const namespaced =
      prefix === undefined
        ? undefined
        : candidateNames(container, `${prefix}.${expr.name}`)
            .map(candidate => functions.get(candidate))
            .find(found => found !== undefined)
    if (namespaced) return { ...namespaced, args: expr.args }
  }
  for (const candidate of candidateNames(container, expr.name)) {
    const found = functions.get(candidate)
    if (found) {
      const member = expr.target !== undefined
      return { name: found.name, overloads: found.overloads.filter(o => (o.member ?? false) === member), args: all }
    }
  }
  // Without a checker an unknown function is an error only where it is reached.
  return { name: expr.name, overloads: [], args: all }
}

type Invoke = (frame: Frame, args: Value[]) => Value

/**
 * Calls the overload that fits and spends its cost. Types of values are checked even if they are known: hosts have
 * nulls.
 */
export function implementation(name: string, overloads: readonly Overload[]): Invoke {
  const [only] = overloads
  const candidates = overloads.map(overload => ({ overload, call: invokeOverload(overload) }))
  return (frame, args) => {
    for (const { overload, call } of candidates) {
      if (overload.unguarded || accepts(overload, args)) return call(frame, args)
    }
    spend(frame, 1)
    // Operators have errors of their own for operands of the wrong types.
    if (OPERATOR.test(name) && only?.call) return only.call(...args)
    if (OPERATOR.test(name) && only?.countedCall) return only.countedCall(frame.budget, ...args)
    return new CelError(`no such overload: ${name}(${args.map(typeName).join(', ')})`, true)
  }
}

const OPERATOR = /^(?:_.+_|@in|!_|-_)$/

function invokeOverload(overload: Overload): Invoke {
  const apply = applyOverload(overload)
  if (!apply) return () => NO_SUCH_OVERLOAD
  const { cost, resultCost } = overload
  if (cost) {
    return (frame, args) => {
      spend(frame, cost(args, frame.budget))
      return apply(frame, args)
    }
  }
  if (resultCost) {
    return (frame, args) => {
      const result = apply(frame, args)
      spend(frame, resultCost(args, result, frame.budget))
      return result
    }
  }
  return (frame, args) => {
    spend(frame, 1)
    for (let i = 0; i < args.length; i++) {
      const arg = args[i]
      // Reading a long text costs no more than reading a short one.
      if (typeof arg === 'string' && arg.length > 100) frame.budget.charge(arg.length * 2.5)
    }
    return apply(frame, args)
  }
}

/** Calls with one and two arguments are the most frequent, and do without spreading them. */
function applyOverload({ call, countedCall, params }: Overload): Invoke | undefined {
  if (countedCall) {
    if (params.length === 2) return ({ budget }, args) => countedCall(budget, args[0]!, args[1]!)
    return ({ budget }, args) => countedCall(budget, ...args)
  }
  if (!call) return undefined
  if (params.length === 1) return (_frame, args) => call(args[0]!)
  if (params.length === 2) return (_frame, args) => call(args[0]!, args[1]!)
  return (_frame, args) => call(...args)
}

const isWild = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'param' || kind === 'any'

const accepts = ({ params: exact, runtimeParams: params = exact }: Overload, args: readonly Value[]): boolean =>
  params.length === args.length && params.every((param, i) => hasType(param, args[i]!))

function hasType(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'param':
      return true
    case 'list':
      // An empty list has any type; of other lists only the first element is checked.
      return (
        isList(value) && (sizeOfList(value) === 0 || isWild(type.params[0]!) || listHasType(type.params[0]!, value))
      )
    case 'map':
      return value instanceof MapValue
    case 'type':
      return value instanceof TypeValue
    case 'opaque':
    case 'object':
      if (type.name === 'optional_type') return value instanceof OptionalValue
      return (value instanceof OpaqueValue || value instanceof ObjectValue) && value.type.name === type.name
    default:
      return typeOfValue(value).kind === type.kind
  }
}

const listHasType = (type: CelType, list: Value): boolean =>
  hasType(type, Array.isArray(list) ? (list[0] as Value) : (list as { get(i: number): Value }).get(0))

/** Conversions of constants and membership in constant lists are evaluated at compile time. */
function fold(
  name: string,
  overloads: readonly Overload[],
  args: readonly Compiled[],
  target: Invoke,
): Compiled | undefined {
  if (CONVERSIONS.has(name) && args.length === 1 && args[0]!.constant !== undefined) {
    const value = target(constantFrame(), [args[0]!.constant])
    if (isError(value)) throw new InstantiationError(value.message)
    return constant(value)
  }
  const list = args[1]?.constant
  if (name !== OPERATORS.in || overloads.length !== 1 || overloads[0]!.id !== 'in_list' || !Array.isArray(list)) {
    return undefined
  }
  if (list.length === 0) return constant(false)
  // With a table of its constants the list costs nothing to search.
  if (!list.every(isPrimitive)) return undefined
  const table = new CelMap()
  for (const element of list as readonly Value[]) table.set(element, true)
  const { run } = args[0]!
  return {
    run: frame => {
      const value = run(frame)
      return isError(value) ? value : table.has(value)
    },
  }
}

const constantFrame = (): Frame => ({
  variables: {},
  locals: [],
  cost: 0,
  limit: Infinity,
  budget: new WorkBudget(Infinity),
})

const CONVERSIONS: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
)

const isPrimitive = (value: Value): boolean =>
  ['bool', 'int', 'uint', 'double', 'string'].includes(typeOfValue(value).kind)
