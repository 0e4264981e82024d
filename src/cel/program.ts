// An expression from text to something that can be evaluated: parse, check, compile.
import { type CelType, DYN } from './check/cel-type.js'
import { type Checked, check } from './check/checker.js'
import { checkLiterals } from './check/literal-checks.js'
import type { Environment } from './environment.js'
import { type Evaluators, evaluatorsOf } from './eval/evaluator.js'
import { InstantiationError } from './eval/selection.js'
import { parse } from './syntax/parser.js'
import { type Issue, printIssues, type Source } from './syntax/source.js'
import type { Expr } from './syntax/syntax-tree.js'

/** A compiled expression. It keeps nothing of one evaluation for the next. */
export interface Program extends Evaluators {
  readonly source: Source
  readonly expr: Expr
  /** The result of the checker, which `estimateCost` needs. Left out if the expression was not checked. */
  readonly checked?: Checked
  /** The type of what it evaluates to. */
  readonly type: CelType
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
  /** False leaves out the checker: names and types are then resolved only in evaluation. */
  readonly check?: boolean
}

/** Parses and checks an expression and prepares it for any number of evaluations. */
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
    return {
      ok: true,
      program: {
        source,
        expr,
        type: checked?.type ?? DYN,
        ...(checked ? { checked } : {}),
        ...evaluatorsOf(checked ?? { expr }, environment),
      },
    }
  } catch (error) {
    if (!(error instanceof InstantiationError)) throw error
    const issues = [{ offset: -1, message: error.message }]
    return { ok: false, stage: 'program', message: error.message, issues, ...(checked ? { checked } : {}) }
  }
}
