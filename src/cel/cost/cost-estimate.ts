// The minimal and maximal cost of an expression, without evaluating it. Sizes come from literals and from the host's
// knowledge of its variables; an unknown size counts as the largest possible one.
import { type CelType, DYN, isOptional, sameType } from '../check/cel-type.js'
import type { Checked } from '../check/checker.js'
import type { Environment, Overload } from '../environment.js'
import { ACCUMULATOR, type CallExpr, type ComprehensionExpr, type Expr, OPERATORS } from '../syntax/syntax-tree.js'
import {
  add,
  type CallCostEstimate,
  type CallNode,
  type CostNode,
  fixed,
  type Interval,
  multiply,
  ONE,
  UNBOUNDED,
  UNKNOWN,
  union,
  ZERO,
} from './cost-intervals.js'
import { countCodePoints } from './work-budget.js'

export interface SizeEstimator {
  /**
   * The size of what is at a path from a variable, such as `['self', 'names', '@items']`: characters of a string,
   * bytes, elements of a list, entries of a map. Undefined where nothing is known.
   */
  sizeOf(node: { readonly path: readonly string[]; readonly type: CelType }): Interval | undefined
}

export interface CostTree {
  readonly expr: Expr
  readonly cost: Interval
  readonly size: Interval | undefined
}

export interface EstimateOptions {
  /** What `has()` costs beyond its operand; 0 if not given, as in Kubernetes. */
  readonly presenceTestCost?: number
  /** Called with the cost of every part. */
  readonly visit?: (part: CostTree) => void
}

export function estimateCost(
  checked: Checked,
  environment: Environment,
  sizes: SizeEstimator,
  options: EstimateOptions = {},
): Interval {
  return new Estimator(checked, environment, sizes, options).cost(checked.expr)
}

const LIST_COST = fixed(10)
const MAP_COST = fixed(30)
const STRUCT_COST = fixed(40)

/** The sizes of the parts of a list or map. */
interface EntrySizes {
  readonly container: 'list' | 'map'
  readonly key: Interval
  readonly value: Interval
}

interface Local {
  readonly path: readonly string[]
  readonly size: Interval | undefined
  readonly entries: EntrySizes | undefined
}

/** Grows by union to whatever it has seen. */
const NOTHING: Interval = { min: UNBOUNDED, max: 0 }

class Estimator {
  private readonly sizes = new Map<number, Interval>()
  private readonly entries = new Map<number, EntrySizes>()
  private readonly paths = new Map<number, readonly string[]>()
  private readonly locals = new Map<string, Local[]>()
  private readonly costsOfShared = new Map<Expr, Interval>()

  constructor(
    private readonly checked: Checked,
    private readonly environment: Environment,
    private readonly host: SizeEstimator,
    private readonly options: EstimateOptions,
  ) {}

  cost(expr: Expr): Interval {
    const known = this.costsOfShared.get(expr)
    if (known !== undefined) return known
    const cost = this.costOf(expr)
    if (expr.shared) this.costsOfShared.set(expr, cost)
    this.options.visit?.({ expr, cost, size: this.size(expr) })
    return cost
  }

  private costOf(expr: Expr): Interval {
    switch (expr.kind) {
      case 'literal':
      case 'unspecified':
        return ZERO
      case 'ident':
        this.paths.set(expr.id, this.local(expr.name)?.path ?? [this.nameOf(expr, expr.name)])
        return ONE
      case 'select': {
        const reference = this.checked.references[expr.id]
        if (reference?.kind === 'ident') {
          this.paths.set(expr.id, [reference.name])
          return ONE
        }
        const operand = this.cost(expr.operand)
        if (expr.testOnly) return add(operand, fixed(this.options.presenceTestCost ?? 0))
        this.paths.set(expr.id, [...this.path(expr.operand), expr.field])
        const { kind } = this.type(expr.operand)
        return kind === 'map' || kind === 'object' || kind === 'param' ? add(operand, ONE) : operand
      }
      case 'call':
        return this.callCost(expr)
      case 'list': {
        let sum = LIST_COST
        let value = expr.elements.length === 0 ? ZERO : NOTHING
        for (const element of expr.elements) {
          sum = add(sum, this.cost(element))
          value = union(value, this.sizeOrUnknown(element))
        }
        this.entries.set(expr.id, { container: 'list', key: ONE, value })
        return sum
      }
      case 'map': {
        let sum = MAP_COST
        let key = expr.entries.length === 0 ? ZERO : NOTHING
        let value = key
        for (const entry of expr.entries) {
          sum = add(sum, add(this.cost(entry.key), this.cost(entry.value)))
          key = union(key, this.sizeOrUnknown(entry.key))
          value = union(value, this.sizeOrUnknown(entry.value))
        }
        this.entries.set(expr.id, { container: 'map', key, value })
        return sum
      }
      case 'struct':
        return expr.fields.reduce((sum, { value }) => add(sum, this.cost(value)), STRUCT_COST)
      case 'comprehension':
        return isBinding(expr) ? this.bindingCost(expr) : this.comprehensionCost(expr)
    }
  }

  private nameOf(expr: Expr, name: string): string {
    const reference = this.checked.references[expr.id]
    return reference?.kind === 'ident' ? reference.name : name
  }

  // ---- calls

  private callCost(expr: CallExpr): Interval {
    const { args, name } = expr
    if (name === 'dyn' && args.length === 1) {
      const cost = add(this.cost(args[0]!), ONE)
      this.copySizes(expr, args[0]!)
      return cost
    }
    const argCosts = args.map(arg => this.cost(arg))
    const nodes = args.map(arg => this.node(arg))
    const reference = this.checked.references[expr.id]
    if (reference?.kind !== 'function' || reference.overloads.length === 0) return ZERO
    let sum = ZERO
    let target: CostNode | undefined
    if (expr.target && !reference.namespaced) {
      sum = this.cost(expr.target)
      target = this.node(expr.target)
    }
    let max = NOTHING
    let resultSize: Interval | undefined
    for (const overload of reference.overloads) {
      const estimate = this.overloadCost(expr, overload, { target, args: nodes, elementOf }, argCosts)
      max = union(max, estimate.cost)
      if (estimate.resultSize) resultSize = resultSize ? union(resultSize, estimate.resultSize) : estimate.resultSize
      const into = INDEXED[overload.id]
      if (into !== undefined) {
        resultSize = this.entrySizes(args[0]!)?.value
        this.paths.set(expr.id, [...this.path(args[0]!), into])
      }
      resultSize ??= this.size(expr)
    }
    if (resultSize) this.sizes.set(expr.id, resultSize)
    return add(sum, max)
  }

  private overloadCost(
    expr: CallExpr,
    overload: Overload,
    call: CallNode,
    argCosts: readonly Interval[],
  ): CallCostEstimate {
    const [first = ZERO, second = ZERO, third = ZERO] = argCosts
    switch (expr.name) {
      case OPERATORS.and:
      case OPERATORS.or:
        // The first operand may decide.
        return { cost: { min: first.min, max: add(first, second).max } }
      case OPERATORS.conditional: {
        const [, then, otherwise] = expr.args as [Expr, Expr, Expr]
        this.joinEntries(expr, then, otherwise)
        return {
          cost: add(first, union(second, third)),
          resultSize: union(this.sizeOrUnknown(then), this.sizeOrUnknown(otherwise)),
        }
      }
      case OPERATORS.add:
        if (JOINED.has(overload.id)) this.joinEntries(expr, expr.args[0]!, expr.args[1]!)
    }
    const estimate = this.equalityCost(expr, call) ?? overload.estimate?.(call) ?? { cost: ONE }
    return { ...estimate, cost: argCosts.reduce(add, estimate.cost) }
  }

  /** Types of libraries may have their own cost of `==`. */
  private equalityCost(expr: CallExpr, { args }: CallNode): CallCostEstimate | undefined {
    const [a, b] = args
    if (expr.name !== OPERATORS.equals || !a || !b || !sameType(a.type, b.type)) return undefined
    const cost = this.environment.equalityCosts.get(a.type.name)?.(b)
    return cost && { cost }
  }

  private joinEntries(expr: Expr, a: Expr, b: Expr): void {
    const left = this.entrySizes(a)
    const right = this.entrySizes(b)
    if (!left || !right) return
    this.entries.set(expr.id, {
      container: left.container,
      key: union(left.key, right.key),
      value: union(left.value, right.value),
    })
  }

  // ---- comprehensions

  private comprehensionCost(expr: ComprehensionExpr): Interval {
    let sum = add(this.cost(expr.range), this.cost(expr.init))
    this.pushLocal(expr.accuVar, this.localOf(expr.init))
    const { range, iterVar, iterVar2 } = expr
    const entries = this.entrySizes(range)
    const container = entries?.container ?? (this.type(range).kind === 'list' ? 'list' : 'map')
    const inRange = (step: string, size: Interval | undefined): Local => ({
      path: [...this.path(range), step],
      size,
      entries: undefined,
    })
    const value = inRange(container === 'list' ? '@items' : '@values', entries?.value)
    const key = inRange(container === 'list' ? '@indices' : '@keys', entries?.key)
    this.pushLocal(iterVar, iterVar2 === undefined && container === 'list' ? value : key)
    if (iterVar2 !== undefined) this.pushLocal(iterVar2, value)
    const turn = add(this.cost(expr.condition), this.cost(expr.step))
    const stepEntries = this.entrySizes(expr.step)
    this.popLocal(iterVar)
    if (iterVar2 !== undefined) this.popLocal(iterVar2)
    sum = add(sum, this.cost(expr.result))
    this.popLocal(expr.accuVar)
    const turns = this.sizeOrUnknown(range)
    if (expr.init.kind === 'literal') {
      const size = this.size(expr.init)
      if (size) this.sizes.set(expr.id, size)
    } else if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.sizes.set(expr.id, turns)
      if (stepEntries) this.entries.set(expr.id, stepEntries)
    }
    return add(sum, multiply(turns, turn))
  }

  private bindingCost(expr: ComprehensionExpr): Interval {
    const sum = add(this.cost(expr.range), this.cost(expr.init))
    this.pushLocal(expr.accuVar, this.localOf(expr.init))
    const result = this.cost(expr.result)
    const size = this.size(expr.result)
    const entries = this.entrySizes(expr.result)
    this.popLocal(expr.accuVar)
    if (size) this.sizes.set(expr.id, size)
    if (entries) this.entries.set(expr.id, entries)
    return add(sum, result)
  }

  private localOf(expr: Expr): Local {
    return { path: this.path(expr), size: this.size(expr), entries: this.entrySizes(expr) }
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1)
  }

  private pushLocal(name: string, local: Local): void {
    const stack = this.locals.get(name)
    if (stack) stack.push(local)
    else this.locals.set(name, [local])
  }

  private popLocal(name: string): void {
    this.locals.get(name)?.pop()
  }

  // ---- sizes

  private type(expr: Expr): CelType {
    return this.checked.types[expr.id] ?? DYN
  }

  private path(expr: Expr): readonly string[] {
    if (expr.kind === 'ident') {
      const local = this.local(expr.name)
      if (local) return local.path
    }
    return this.paths.get(expr.id) ?? []
  }

  private node(expr: Expr): CostNode {
    const path = this.path(expr)
    const size = this.size(expr)
    return {
      path: path.length > 0 && path[0] !== ACCUMULATOR ? path : undefined,
      type: this.type(expr),
      expr,
      size: size ?? UNKNOWN,
      sizeKnown: size !== undefined,
      part: (step, type) => {
        const inner = path.length > 0 && path[0] !== ACCUMULATOR ? [...path, step] : []
        const known = this.host.sizeOf({ path: inner, type })
        return { path: inner, type, expr: undefined, size: known ?? UNKNOWN, sizeKnown: known !== undefined }
      },
    }
  }

  private sizeOrUnknown(expr: Expr): Interval {
    return this.size(expr) ?? UNKNOWN
  }

  private size(expr: Expr): Interval | undefined {
    const known = this.sizes.get(expr.id) ?? literalSize(expr)
    if (known) return known
    const hostSize = this.host.sizeOf({ path: this.path(expr), type: this.type(expr) })
    if (hostSize) {
      this.sizes.set(expr.id, hostSize)
      return hostSize
    }
    if (isScalar(this.type(expr))) return ONE
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined
  }

  private entrySizes(expr: Expr): EntrySizes | undefined {
    return this.entries.get(expr.id) ?? (expr.kind === 'ident' ? this.local(expr.name)?.entries : undefined)
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.size(from)
    if (size) this.sizes.set(to.id, size)
    const entries = this.entrySizes(from)
    if (entries) this.entries.set(to.id, entries)
  }
}

const INDEXED: Readonly<Record<string, string | undefined>> = { index_list: '@items', index_map: '@values' }
const JOINED: ReadonlySet<string> = new Set(['add_list', 'add_string', 'add_bytes'])

function elementOf(list: CostNode): CostNode | undefined {
  const [type] = list.type.params
  return type && list.part ? list.part('@items', type) : undefined
}

function literalSize(expr: Expr): Interval | undefined {
  if (expr.kind === 'list') return fixed(expr.elements.length)
  if (expr.kind === 'map') return fixed(expr.entries.length)
  if (expr.kind !== 'literal') return undefined
  if (typeof expr.value === 'string') return fixed(countCodePoints(expr.value))
  return fixed(expr.value instanceof Uint8Array ? expr.value.length : 1)
}

function isScalar(type: CelType): boolean {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true
    default:
      return isOptional(type) && isScalar(type.params[0]!)
  }
}

const isBinding = ({ range, condition, accuVar }: ComprehensionExpr): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false &&
  accuVar !== ACCUMULATOR
