// Evaluation within limits: by closures at first, and by generated JavaScript once an expression is used often.
import { CelError, CostLimitExceeded, EvaluationAborted, isError } from '../cel-error.js'
import type { Checked } from '../check/checker.js'
import { MAX_WORK, WorkBudget } from '../cost/work-budget.js'
import type { Environment } from '../environment.js'
import type { Expr } from '../syntax/syntax-tree.js'
import type { Value } from '../values/values.js'
import type { Evaluate, Frame, Variables } from './frame.js'
import { type Generated, generate } from './javascript/generate.js'
import { GIVE_UP } from './javascript/writer.js'
import { compileTree } from './plan.js'

export interface EvaluateOptions {
  /** The maximal cost of the evaluation; 1,000,000 if not given. */
  readonly costLimit?: number
  /** The most work that costs do not cover (see cost/work-budget.ts); about a second's worth if not given. */
  readonly workLimit?: number
  /** In place of `workLimit`: charges the budget of another evaluation, inside which this one takes place. */
  readonly budget?: WorkBudget
}

export interface Evaluation {
  /** Left out if the result is an error. */
  readonly value?: Value
  readonly error?: CelError
  /** True if the error is that the limit was spent. */
  readonly limitExceeded?: boolean
  /** The cost spent, also if the result is an error. */
  readonly cost: number
  /** Work that the cost does not cover. */
  readonly work: number
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
  const unset = unsetLocals(locals)
  return (variables, options = NO_OPTIONS) => evaluateClosure(compiled.run, unset.slice(), variables, options)
}

/** Evaluates within limits. */
export function evaluateClosure(
  run: Evaluate,
  locals: (Value | undefined)[],
  variables: Variables,
  { costLimit = DEFAULT_COST_LIMIT, workLimit = MAX_WORK, budget = new WorkBudget(workLimit) }: EvaluateOptions,
): Evaluation {
  const before = budget.left
  const frame: Frame = { variables, locals, cost: 0, limit: costLimit, budget }
  try {
    const value = run(frame)
    const work = before - budget.left
    return isError(value) ? { error: value, cost: frame.cost, work } : { value, cost: frame.cost, work }
  } catch (error) {
    if (!(error instanceof EvaluationAborted)) throw error
    const work = before - budget.left
    const limitExceeded = error instanceof CostLimitExceeded
    return { error: new CelError(error.message), ...(limitExceeded && { limitExceeded }), cost: frame.cost, work }
  }
}

export const unsetLocals = (count: number): undefined[] => Array.from({ length: count }, () => undefined)

/** Evaluations before code is generated, which takes as long as about a hundred of them. */
const USES_BEFORE_CODE = 100
/** The part of either limit that the code may spend before it leaves the evaluation to closures, which begin again. */
const SHARE = 0.1
/** The code is dropped once it has given up so many times more than it has succeeded. */
const MAX_DEOPTS = 100

const NO_LOCALS: undefined[] = []

/** The generated JavaScript of an expression that is used often. */
class Code {
  private uses = 0
  private generated: Generated | undefined
  private unset = NO_LOCALS
  private deopts = 0

  constructor(
    private readonly checked: Checked,
    private readonly environment: Environment,
  ) {}

  /** Undefined if there is no code, or if it gave up. */
  evaluate(
    variables: Variables,
    { costLimit = DEFAULT_COST_LIMIT, workLimit = MAX_WORK, budget: outer }: EvaluateOptions,
  ): Evaluation | undefined {
    const { generated } = this
    if (generated === undefined) {
      if (++this.uses === USES_BEFORE_CODE) this.generate()
      return undefined
    }
    const before = outer?.left ?? workLimit
    const workShare = before * SHARE
    const budget = new WorkBudget(workShare)
    const { unset } = this
    const locals = unset.length === 0 ? NO_LOCALS : unset.slice()
    const frame: Frame = { variables, locals, cost: 0, limit: costLimit * SHARE, budget }
    let value: Value | typeof GIVE_UP = GIVE_UP
    try {
      value = generated.run(variables, frame)
      if (value !== GIVE_UP && frame.cost <= frame.limit) {
        if (this.deopts > 0) this.deopts--
        const spent = workShare - budget.left
        if (outer === undefined) return { value, cost: frame.cost, work: spent }
        // Evaluations inside this one have charged the outer budget themselves.
        outer.left -= spent
        return { value, cost: frame.cost, work: before - outer.left }
      }
    } catch (error) {
      if (!(error instanceof EvaluationAborted)) throw error
    }
    if (++this.deopts === MAX_DEOPTS) this.generated = undefined
    return undefined
  }

  private generate(): void {
    try {
      this.generated = generate(this.checked, this.environment)
    } catch (error) {
      // The process may forbid code generation (--disallow-code-generation-from-strings).
      if (!(error instanceof EvalError)) throw error
      return
    }
    this.unset = unsetLocals(this.generated.locals)
  }
}
