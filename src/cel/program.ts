// An expression from text to something that can be evaluated: parse, check, compile.
import { CelError, CostLimitExceeded, isError } from './cel-error.js'
import { type CelType, DYN } from './cel-type.js'
import { type Checked, check } from './checker.js'
import { compileTree } from './compile.js'
import { beginEffort, effortLeft, endEffort, MOST_EFFORT } from './effort.js'
import type { Environment } from './environment.js'
import type { Frame, Variables } from './frame.js'
import { checkLiterals } from './literal-checks.js'
import { parse } from './parser.js'
import { InstantiationError } from './selection.js'
import { type Issue, printIssues, type Source } from './source.js'
import type { Expr } from './syntax-tree.js'
import type { Value } from './values.js'

/** A compiled expression. It keeps nothing between evaluations. */
export interface Program {
  readonly source: Source
  readonly expr: Expr
  /** What the checker found out, which `estimateCost` needs. Left out if the expression was not checked. */
  readonly checked?: Checked
  /** The type of what it evaluates to. */
  readonly type: CelType
  /** Never throws for anything that an expression does: its errors are part of the answer. */
  readonly evaluate: (variables: Variables, options?: EvaluateOptions) => Evaluation
}

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

export type Compilation =
  | { readonly ok: true; readonly program: Program }
  | {
      readonly ok: false
      /** `program` where each part is right but a constant one cannot be computed. */
      readonly stage: 'parse' | 'check' | 'program'
      /** In the last stage the expression has been checked. */
      readonly checked?: Checked
      /** Every error, with the lines and carets. */
      readonly message: string
      readonly issues: readonly Issue[]
    }

export interface CompileOptions {
  /** False leaves out the checker: names and types are then looked at only in evaluation. */
  readonly check?: boolean
}

const DEFAULT_COST_LIMIT = 1_000_000
const NO_OPTIONS: EvaluateOptions = {}

/** Reads and checks an expression and makes it ready to be evaluated, any number of times. */
export function compile(text: string, environment: Environment, options: CompileOptions = {}): Compilation {
  const parsed = parse(text, environment)
  const { source } = parsed
  if (!parsed.ok) {
    return { ok: false, stage: 'parse', message: printIssues(source, parsed.issues), issues: parsed.issues }
  }
  const { expr } = parsed
  let checked: Checked | undefined
  if (options.check !== false) {
    const result = check(expr, environment)
    const issues = result.ok ? checkLiterals(result.checked, environment) : result.issues
    if (!result.ok || issues.length > 0) {
      return { ok: false, stage: 'check', message: printIssues(source, issues), issues }
    }
    checked = result.checked
  }
  try {
    const { run, locals } = compileTree(checked ?? { expr }, environment)
    const unset: readonly undefined[] = Array.from({ length: locals }, () => undefined)
    return {
      ok: true,
      program: {
        source,
        expr,
        type: checked?.type ?? DYN,
        ...(checked ? { checked } : {}),
        evaluate(variables, { costLimit = DEFAULT_COST_LIMIT, effortLimit = MOST_EFFORT } = NO_OPTIONS) {
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
        },
      },
    }
  } catch (error) {
    if (!(error instanceof InstantiationError)) throw error
    const issues = [{ offset: -1, message: error.message }]
    return { ok: false, stage: 'program', message: error.message, issues, ...(checked ? { checked } : {}) }
  }
}
