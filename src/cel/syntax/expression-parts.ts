// The parts of an expression as its author wrote them: of a macro the range and the body, not what it expands to.
import { bodyOf, isBinding, optMapOf } from './print-expression.js'
import type { Expr } from './syntax-tree.js'

export interface ExpressionPart {
  readonly expr: Expr
  /** It is evaluated for each element of the expression that it is a part of. */
  readonly repeated: boolean
}

/** The parts below an expression that cost something of their own: no literals, and no steps on the way from a name. */
export function partsBelow(expr: Expr): readonly ExpressionPart[] {
  return partsOf(expr).filter(part => part.expr.kind !== 'literal')
}

function partsOf(expr: Expr): readonly ExpressionPart[] {
  switch (expr.kind) {
    case 'comprehension':
      if (isBinding(expr)) return once(expr.init, expr.result)
      return [...once(expr.range), { expr: bodyOf(expr), repeated: true }]
    case 'call': {
      const mapped = optMapOf(expr)
      if (mapped) return once(mapped.optional, mapped.binding.result)
      return once(...(expr.target ? [expr.target, ...expr.args] : expr.args))
    }
    case 'list':
      return once(...expr.elements)
    case 'map':
      return once(...expr.entries.flatMap(({ key, value }) => [key, value]))
    case 'select':
      return expr.operand.kind === 'ident' || expr.operand.kind === 'select' ? [] : once(expr.operand)
    default:
      return []
  }
}

const once = (...parts: readonly Expr[]): readonly ExpressionPart[] => parts.map(expr => ({ expr, repeated: false }))
