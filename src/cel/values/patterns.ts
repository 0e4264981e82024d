// Regular expressions of users. They are RE2's and run in time linear in the text; JavaScript's own never see them.
import { RE2JS } from 're2js'
import { CelError } from '../cel-error.js'
import { WorkBudget } from '../cost/work-budget.js'

const MAX_KEPT = 500
const COMPILE_WORK = 600
const INSTRUCTION_WORK = 50
const compiled = new Map<string, RE2JS | CelError>()

/** The compiled pattern, or the error of it in Go's words. The patterns used last are kept. */
export function pattern(text: string, budget: WorkBudget): RE2JS | CelError {
  let found = compiled.get(text)
  if (found === undefined) {
    found = compile(text)
    // A short pattern may stand for a large program: `a{1000}`.
    budget.charge(COMPILE_WORK + (found instanceof CelError ? 0 : found.programSize() * INSTRUCTION_WORK))
    if (compiled.size >= MAX_KEPT) compiled.delete(compiled.keys().next().value!)
  } else compiled.delete(text)
  compiled.set(text, found)
  return found
}

/** The error of a constant pattern. */
export function patternError(text: unknown): CelError | undefined {
  const compiledPattern = typeof text === 'string' ? pattern(text, new WorkBudget(Infinity)) : undefined
  return compiledPattern instanceof CelError ? compiledPattern : undefined
}

function compile(text: string): RE2JS | CelError {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    return new CelError((error as Error).message)
  }
}
