// An evaluation that is watched part by part: how often each part was evaluated, what it cost, and what it gave. It takes
// the same closures as any evaluation, so that values and costs are the same to the unit.
import type { Checked } from '../check/checker.js'
import type { Environment } from '../environment.js'
import type { Expr } from '../syntax/syntax-tree.js'
import type { Value } from '../values/values.js'
import { type EvaluateOptions, type Evaluation, evaluateClosure, unsetLocals } from './evaluator.js'
import type { Compiled, Evaluate, Variables } from './frame.js'
import { compileTree, type Watch } from './plan.js'

export interface PartTrace {
  /** The cost of all its evaluations, with the parts below it. */
  cost: number
  evaluations: number
  /** Of the first evaluation: a value or an error; undefined if it did not end. */
  value: Value | undefined
}

export interface TracedEvaluation extends Evaluation {
  /** Only parts that were evaluated; constants are not, they cost nothing. */
  readonly parts: ReadonlyMap<Expr, PartTrace>
}

export function traceEvaluation(
  checked: Checked,
  environment: Environment,
  variables: Variables,
  options: EvaluateOptions = {},
): TracedEvaluation {
  const parts = new Map<Expr, PartTrace>()
  const watch: Watch = (expr, compiled) => watched(compiled, traceOf(parts, expr))
  const { compiled, locals } = compileTree(checked, environment, watch)
  return { ...evaluateClosure(compiled.run, unsetLocals(locals), variables, options), parts }
}

const traceOf = (parts: Map<Expr, PartTrace>, expr: Expr) => (): PartTrace => {
  let trace = parts.get(expr)
  if (!trace) parts.set(expr, (trace = { cost: 0, evaluations: 0, value: undefined }))
  return trace
}

function watched(compiled: Compiled, open: () => PartTrace): Compiled {
  const watch =
    (run: Evaluate): Evaluate =>
    frame => {
      const trace = open()
      const before = frame.cost
      trace.evaluations++
      try {
        const value = run(frame)
        if (trace.evaluations === 1) trace.value = value
        return value
      } finally {
        // Also if the limit is spent meanwhile.
        trace.cost += frame.cost - before
      }
    }
  const { run, branch, read, constant } = compiled
  if (constant !== undefined) return compiled
  return { run: watch(run), ...(branch && { branch: watch(branch) }), ...(read && { read: watch(read) }) }
}
