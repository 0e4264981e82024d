// Which comprehensions are all() and exists(): they are what most rules consist of.
import { ACCUMULATOR, type ComprehensionExpr, type Expr, OPERATORS } from '../syntax/syntax-tree.js'

/** The deciding value if the comprehension is what all() or exists() stand for. */
export function quantifierOf({ condition, step, result }: ComprehensionExpr): boolean | undefined {
  const requested = argumentOf(condition, OPERATORS.notStrictlyFalse)
  if (!isAccumulator(result)) return undefined
  if (isAccumulator(requested)) return isAccumulator(argumentOf(step, OPERATORS.and)) ? false : undefined
  const negated = isAccumulator(argumentOf(requested, OPERATORS.not))
  return negated && isAccumulator(argumentOf(step, OPERATORS.or)) ? true : undefined
}

const isAccumulator = (expr: Expr | undefined): boolean => expr?.kind === 'ident' && expr.name === ACCUMULATOR

/** The first argument if the expression is a call of that operator. */
const argumentOf = (expr: Expr | undefined, operator: string): Expr | undefined =>
  expr?.kind === 'call' && expr.name === operator ? expr.args[0] : undefined
