// Evaluation, within limits: by closures at first, and by JavaScript of its own once an expression is used often.
import { CelError, CostLimitExceeded, isError } from '../cel-error.js'
import type { Checked } from '../check/checker.js'
import { beginEffort, effortLeft, endEffort, MAX_EFFORT } from '../cost/work-budget.js'
import type { Environment } from '../environment.js'
import type { Expr } from '../syntax/syntax-tree.js'
import type { Value } from '../values/values.js'
import type { Frame, Variables } from './frame.js'
import { type Generated, generate } from './javascript/generate.js'
import { GIVE_UP } from './javascript/writer.js'
import { compileTree } from './plan.js'

export interface EvaluateOptions {
  /** What the evaluation may cost at most; 1,000,000 if not given. */
  readonly costLimit?: number
  /** The most work beyond what costs account for (see effort.ts); a second's worth if not given. */
  readonly effortLimit?: number
}

export interface Evaluation {
  /** Left out if the expression came to an error. */
  readonly value?: Value
  readonly error?: CelError
  /** True if the error is that the limit was spent. */
  readonly limitExceeded?: boolean
  /** What was spent, also where that ended in an error. */
  readonly cost: number
  readonly effort: number
}

export type Evaluator = (variables: Variables, options?: EvaluateOptions) => Evaluation

const DEFAULT_COST_LIMIT = 1_000_000
const NO_OPTIONS: EvaluateOptions = {}

export function evaluatorOf(tree: { expr: Expr } & Partial<Checked>, environment: Environment): Evaluator {
  const byClosures = closuresOf(tree, environment)
  const { types, references, type } = tree
  if (types === undefined || references === undefined || type === undefined) return byClosures
  const code = new Code({ expr: tree.expr, types, references, type }, environment)
  return (variables, options = NO_OPTIONS) => code.evaluate(variables, options) ?? byClosures(variables, options)
}

function closuresOf(tree: { expr: Expr } & Partial<Checked>, environment: Environment): Evaluator {
  const { compiled, locals } = compileTree(tree, environment)
  const { run } = compiled
  const unset = unsetLocals(locals)
  return (variables, { costLimit = DEFAULT_COST_LIMIT, effortLimit = MAX_EFFORT } = NO_OPTIONS) => {
    beginEffort(effortLimit)
    const frame: Frame = { variables, locals: unset.slice(), cost: 0, limit: costLimit }
    try {
      const value = run(frame)
      const effort = effortLimit - effortLeft()
      return isError(value) ? { error: value, cost: frame.cost, effort } : { value, cost: frame.cost, effort }
    } catch (error) {
      if (!(error instanceof CostLimitExceeded)) throw error
      const effort = effortLimit - effortLeft()
      return { error: new CelError(error.message), limitExceeded: true, cost: frame.cost, effort }
    } finally {
      endEffort()
    }
  }
}

const unsetLocals = (count: number): undefined[] => Array.from({ length: count }, () => undefined)

/** Evaluations before code is made, which takes as long as some hundred of them. */
const USES_BEFORE_CODE = 100
/** What the code may spend of either limit before it leaves the evaluation to closures, which then begin again. */
const SHARE = 0.1
/** How often the code may give up more than it succeeds. */
const MAX_PATIENCE = 100

const NO_LOCALS: undefined[] = []

/** The JavaScript of an expression, once it is worth it. */
class Code {
  private uses = 0
  private generated: Generated | undefined
  private unset = NO_LOCALS
  private patience = MAX_PATIENCE

  constructor(
    private readonly checked: Checked,
    private readonly environment: Environment,
  ) {}

  /** Undefined if there is no code, or if it gave up. */
  evaluate(
    variables: Variables,
    { costLimit = DEFAULT_COST_LIMIT, effortLimit = MAX_EFFORT }: EvaluateOptions,
  ): Evaluation | undefined {
    const { generated } = this
    if (generated === undefined) {
      if (++this.uses === USES_BEFORE_CODE) this.make()
      return undefined
    }
    const effortShare = effortLimit * SHARE
    beginEffort(effortShare)
    const { unset } = this
    const locals = unset.length === 0 ? NO_LOCALS : unset.slice()
    const frame: Frame = { variables, locals, cost: 0, limit: costLimit * SHARE }
    let value: Value | typeof GIVE_UP = GIVE_UP
    try {
      value = generated.run(variables, frame)
      if (value !== GIVE_UP && frame.cost <= frame.limit) {
        if (this.patience < MAX_PATIENCE) this.patience++
        return { value, cost: frame.cost, effort: effortShare - effortLeft() }
      }
    } catch (error) {
      if (!(error instanceof CostLimitExceeded)) throw error
    } finally {
      endEffort()
    }
    if (--this.patience === 0) this.generated = undefined
    return undefined
  }

  private make(): void {
    try {
      this.generated = generate(this.checked, this.environment)
    } catch (error) {
      // Who runs the process may have forbidden code that is made in it.
      if (!(error instanceof EvalError)) throw error
      return
    }
    this.unset = unsetLocals(this.generated.locals)
  }
}
