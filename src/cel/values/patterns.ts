// Regular expressions in CEL expressions, with the work of compiling them charged to the evaluation.
import type { RE2JS } from 're2js'
import { cachedRegex, compileRegex, isRegexError, matchingSteps } from '../../base/regex-cache.js'
import { CelError } from '../cel-error.js'
import type { WorkBudget } from '../cost/work-budget.js'

const COMPILE_WORK = 600
const INSTRUCTION_WORK = 50

/** The compiled pattern, or the error of it with Go's message. */
export function pattern(text: string, budget: WorkBudget): RE2JS | CelError {
  const known = cachedRegex(text)
  if (known !== undefined) return known
  const compiled = compileRegex(text)
  const isError = isRegexError(compiled)
  // A short pattern may stand for a large program: `a{1000}`.
  budget.charge(COMPILE_WORK + (isError ? 0 : compiled.programSize() * INSTRUCTION_WORK))
  return isError ? new CelError(compiled.error) : compiled
}

/** Steps of a pattern that take as long as one element. */
const STEPS_PER_ELEMENT = 4

/** Called before a text is matched. */
export function chargeMatching(compiled: RE2JS, text: string, budget: WorkBudget): void {
  budget.charge(matchingSteps(compiled, text) / STEPS_PER_ELEMENT)
}

/** The error of a constant pattern. */
export function patternError(text: unknown): CelError | undefined {
  const compiled = typeof text === 'string' ? compileRegex(text) : undefined
  return compiled !== undefined && isRegexError(compiled) ? new CelError(compiled.error) : undefined
}
