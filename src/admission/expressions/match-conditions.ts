// Match conditions: expressions that must all be true for a webhook or a policy to apply.

import {
  type AdmissionProgram,
  type AdmissionVariables,
  compileMatchCondition,
} from '../../builtin/admission-expressions.js'
import { MAX_WORK, type Program, type Variables, WorkBudget } from '../../cel/index.js'
import { aggregate } from '../../meta/errors/aggregate.js'

export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

export interface MatchConditions {
  readonly isEmpty: boolean
  evaluate(variables: Variables): MatchResult
}

export type MatchResult =
  | { readonly matches: true }
  /**
   * `condition`: the name of the one that is false; undefined if some failed and failures are ignored. `errors`: how many
   * failed before it.
   */
  | { readonly matches: false; readonly condition?: string | undefined; readonly errors: number }
  /** Some conditions failed, and none is false: the request is refused. */
  | { readonly matches: undefined; readonly error: string; readonly errors: number }

/** The cost of all conditions of one webhook or policy together. */
const MAX_COST = 2_500_000
/** The cost of one expression. */
const MAX_EXPRESSION_COST = 1_000_000

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** Compiles the conditions when they are evaluated for the first time. `failurePolicy` decides about errors. */
export function matchConditions(
  conditions: readonly MatchCondition[],
  failurePolicy: string,
  declared: AdmissionVariables = { authorizer: true },
): MatchConditions {
  let compiled: readonly AdmissionProgram[] | undefined
  const failed = (messages: readonly string[], errors = messages.length): MatchResult =>
    failurePolicy === 'Ignore' ? { matches: false, errors } : { matches: undefined, error: aggregate(messages), errors }
  return {
    isEmpty: conditions.length === 0,
    evaluate(variables) {
      compiled ??= conditions.map(({ expression }) => compileMatchCondition(expression.trim(), declared))
      const errors: string[] = []
      const budget = new WorkBudget(MAX_WORK)
      let left = MAX_COST
      let isFalse: MatchResult | undefined
      // All are evaluated, even after one that is false, because the budget must hold for all.
      for (const [i, program] of compiled.entries()) {
        const { expression, name } = conditions[i]!
        if (!program.ok) {
          errors.push(`compilation error: ${program.error}`)
          continue
        }
        const { value, error, cost } = evaluateOne(program.program, variables, budget)
        left -= cost
        if (left < 0) return failed([OUT_OF_BUDGET], 0)
        if (error !== undefined) errors.push(`expression '${expression}' resulted in error: ${error}`)
        else if (value === false) isFalse ??= { matches: false, condition: name, errors: errors.length }
      }
      return isFalse ?? (errors.length > 0 ? failed(errors) : { matches: true })
    },
  }
}

function evaluateOne(
  program: Program,
  variables: Variables,
  budget: WorkBudget,
): { value: unknown; error: string | undefined; cost: number } {
  const { value, error, cost } = program.evaluate(variables, { costLimit: MAX_EXPRESSION_COST, budget })
  return { value, error: error?.message, cost }
}
