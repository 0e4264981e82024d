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

/** Evaluations one after the other with the same variables, within one budget. They share what each of them needs. */
export class Series {
  /** What the last one has cost. */
  cost = 0
  /** The work of generated code. */
  readonly share = new WorkBudget(0)
  readonly frame: { -readonly [Part in keyof Frame]: Frame[Part] }

  constructor(
    readonly variables: Variables,
    /** Of each evaluation. */
    readonly costLimit: number,
    readonly budget: WorkBudget,
  ) {
    this.frame = { variables, locals: NO_LOCALS, cost: 0, limit: costLimit * SHARE, budget: this.share }
  }
}

/** They never throw for anything that an expression does: its errors are part of the result. */
export interface Evaluators {
  readonly evaluate: Evaluator
  /** The value or the error; the cost is in the series. */
  readonly evaluateIn: (series: Series) => Value
}

export function evaluatorsOf(tree: { expr: Expr } & Partial<Checked>, environment: Environment): Evaluators {
  const byClosures = closuresOf(tree, environment)
  const { types, references, type } = tree
  const code =
    types === undefined || references === undefined || type === undefined
      ? undefined
      : new Code({ expr: tree.expr, types, references, type }, environment)
  return {
    evaluate: (variables, options = NO_OPTIONS) => code?.evaluate(variables, options) ?? byClosures(variables, options),
    evaluateIn(series) {
      const byCode = code?.run(series)
      if (byCode !== undefined) return byCode
      const { value, error, cost } = byClosures(series.variables, series)
      series.cost = cost
      return error ?? value!
    },
  }
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
    { costLimit = DEFAULT_COST_LIMIT, workLimit = MAX_WORK, budget = new WorkBudget(workLimit) }: EvaluateOptions,
  ): Evaluation | undefined {
    if (this.generated === undefined) return this.count()
    const before = budget.left
    const series = new Series(variables, costLimit, budget)
    const value = this.run(series)
    return value === undefined ? undefined : { value, cost: series.cost, work: before - budget.left }
  }

  /** The same with the cost in the series. */
  run(series: Series): Value | undefined {
    const { generated, unset } = this
    if (generated === undefined) return this.count()
    const { frame, share, budget } = series
    const limit = budget.left * SHARE
    share.left = limit
    frame.cost = 0
    frame.locals = unset.length === 0 ? NO_LOCALS : unset.slice()
    try {
      const value = generated.run(series.variables, frame)
      if (value !== GIVE_UP && frame.cost <= frame.limit) {
        if (this.deopts > 0) this.deopts--
        series.cost = frame.cost
        // Evaluations inside this one have charged the budget themselves.
        budget.left -= limit - share.left
        return value
      }
    } catch (error) {
      if (!(error instanceof EvaluationAborted)) throw error
    }
    if (++this.deopts === MAX_DEOPTS) this.generated = undefined
    return undefined
  }

  /** Code is generated for an expression that is used often. */
  private count(): undefined {
    if (++this.uses === USES_BEFORE_CODE) this.generate()
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
