// Regular expressions of users. They are RE2's and run in time linear in the text; JavaScript's own never see them.
import { RE2JS } from 're2js'
import { CelError } from '../cel-error.js'
import { effort } from '../cost/work-budget.js'

const MAX_KEPT = 500
const EFFORT_TO_COMPILE = 600
const EFFORT_OF_AN_INSTRUCTION = 50
const compiled = new Map<string, RE2JS | CelError>()

/** The compiled pattern, or the error of it in Go's words. The patterns used last are kept. */
export function pattern(text: string): RE2JS | CelError {
  let found = compiled.get(text)
  if (found === undefined) {
    found = compile(text)
    // A short pattern may stand for a large program: `a{1000}`.
    effort(
      found instanceof CelError
        ? EFFORT_TO_COMPILE
        : EFFORT_TO_COMPILE + found.programSize() * EFFORT_OF_AN_INSTRUCTION,
    )
    if (compiled.size >= MAX_KEPT) compiled.delete(compiled.keys().next().value!)
  } else compiled.delete(text)
  compiled.set(text, found)
  return found
}

/** The error of a constant pattern. */
export function patternError(text: unknown): CelError | undefined {
  const compiledPattern = typeof text === 'string' ? pattern(text) : undefined
  return compiledPattern instanceof CelError ? compiledPattern : undefined
}

function compile(text: string): RE2JS | CelError {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    return new CelError((error as Error).message)
  }
}
