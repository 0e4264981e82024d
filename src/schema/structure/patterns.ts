// Regular expressions that users bring. They are RE2's, matched in linear time; JavaScript's own engine never sees them.
import { RE2JS } from 're2js'

/** The same pattern stands in many schemas (names, durations), and definitions are compiled again on every change. */
const compiled = new Map<string, Pattern | PatternError>()
const MAX_COMPILED = 2_000

export interface Pattern {
  /** True if it matches anywhere in the text. */
  matches(text: string): boolean
}

export interface PatternError {
  /** Why it is no pattern, in Go's words. */
  readonly error: string
}

export function compilePattern(source: string): Pattern | PatternError {
  const known = compiled.get(source)
  if (known !== undefined) return known
  const made = compile(source)
  // Refused patterns may be of any size and never come back; the oldest of the others makes room.
  if (!isPatternError(made)) {
    if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value!)
    compiled.set(source, made)
  }
  return made
}

export const isPatternError = (made: Pattern | PatternError): made is PatternError => 'error' in made

function compile(source: string): Pattern | PatternError {
  try {
    const expression = RE2JS.compile(source)
    return { matches: text => expression.test(text) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
