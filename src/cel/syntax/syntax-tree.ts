// An expression that was parsed: plain nodes, each with an id and its position.
import type { Duration, Timestamp } from '../values/moments.js'
import type { Double, Uint } from '../values/numbers.js'

export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr
  | UnspecifiedExpr

interface Node {
  readonly id: number
  /** The code point of the source that errors about this node point at: the operator, the dot, the bracket. */
  readonly offset: number
  /**
   * Set for the target of `optMap()`, which stands twice in the tree. Every pass over the tree deals with it once: a
   * chain of such calls would otherwise take twice as long with each call.
   */
  readonly shared?: true
}

/** An int is a number where that is exact, otherwise a bigint. */
export type LiteralValue = null | boolean | number | bigint | Uint | Double | string | Uint8Array | Timestamp | Duration

export interface LiteralExpr extends Node {
  readonly kind: 'literal'
  readonly value: LiteralValue
}

export interface IdentExpr extends Node {
  readonly kind: 'ident'
  readonly name: string
}

export interface SelectExpr extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `has(operand.field)`. */
  readonly testOnly: boolean
}

export interface CallExpr extends Node {
  readonly kind: 'call'
  readonly target: Expr | undefined
  readonly name: string
  readonly args: readonly Expr[]
}

export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  /** The indexes of elements written `?element`. */
  readonly optional: readonly number[]
}

export interface MapEntry extends Node {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface StructField extends Node {
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

export interface StructExpr extends Node {
  readonly kind: 'struct'
  readonly typeName: string
  readonly fields: readonly StructField[]
}

/** What all iterating macros become: fold a range into an accumulator, then compute the result from it. */
export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension'
  readonly iterVar: string
  readonly iterVar2: string | undefined
  readonly range: Expr
  readonly accuVar: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** Stands where the source has an error. */
export interface UnspecifiedExpr extends Node {
  readonly kind: 'unspecified'
}

/** The name of the accumulator of all macros; no identifier of a user can have it. */
export const ACCUMULATOR = '@result'

export const OPERATORS = {
  conditional: '_?_:_',
  or: '_||_',
  and: '_&&_',
  equals: '_==_',
  notEquals: '_!=_',
  not: '!_',
  negate: '-_',
  add: '_+_',
  index: '_[_]',
  optionalIndex: '_[?_]',
  optionalSelect: '_?._',
  in: '@in',
  notStrictlyFalse: '@not_strictly_false',
} as const

/** Every node of the tree once, parents first. */
export function* walk(root: Expr): Generator<Expr> {
  const open: Expr[] = [root]
  const seen = new Set<Expr>()
  for (let expr = open.pop(); expr; expr = open.pop()) {
    if (expr.shared) {
      if (seen.has(expr)) continue
      seen.add(expr)
    }
    yield expr
    open.push(...childrenOf(expr).toReversed())
  }
}

export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
    case 'literal':
    case 'ident':
    case 'unspecified':
      return []
  }
}
