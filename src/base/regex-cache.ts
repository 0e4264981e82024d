// Regular expressions of users, compiled once. They are RE2's and match in time linear in the text; JavaScript's own
// engine never gets them. The cache depends on the expressions only, so that all servers of a process share it.
import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'
import { createGenerationCache } from './generation-cache.js'

export interface RegexError {
  /** Why it is no regular expression, with Go's message. */
  readonly error: string
}

/** Expressions of one generation, in characters: real ones are short. */
const MAX_WEIGHT = 200_000
/** What the compiled program of a short expression weighs. */
const MIN_WEIGHT = 100

const cache = createGenerationCache<string, { readonly source: string; readonly compiled: RE2JS }>({
  maxWeight: MAX_WEIGHT,
  weigh: ({ source }) => source.length + MIN_WEIGHT,
})

/** The expression, if it was compiled before. */
export const cachedRegex = (source: string): RE2JS | undefined => cache.get(source)?.compiled

let loaded: typeof RE2JS | undefined
/** The engine is loaded with the first expression: that takes 9 ms of processor time, and most starts have none. */
const re2 = (): typeof RE2JS => (loaded ??= (require('re2js') as typeof import('re2js')).RE2JS)
const require = createRequire(import.meta.url)

/** Errors are not kept: a refused expression may have any length and does not come back. */
export function compileRegex(source: string): RE2JS | RegexError {
  const known = cachedRegex(source)
  if (known !== undefined) return known
  try {
    const compiled = re2().compile(source)
    cache.set(source, { source, compiled })
    return compiled
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** Expressions that are known to be right, without their programs: as many characters as the body of a request may have. */
const valid = createGenerationCache<string, string>({
  maxWeight: 4 * 1024 * 1024,
  weigh: source => source.length + MIN_WEIGHT,
})

/** Why the text is no regular expression. */
export function regexErrorOf(source: string): string | undefined {
  if (valid.get(source) !== undefined) return undefined
  const compiled = compileRegex(source)
  if (isRegexError(compiled)) return compiled.error
  valid.set(source, source)
  return undefined
}

export const isRegexError = (compiled: RE2JS | RegexError): compiled is RegexError => 'error' in compiled

/** The states of a program of this size can be kept, so that a character takes one step. */
const SMALL_PROGRAM = 32

/** How many steps matching may take. In a large program, each instruction may be tried at each character. */
export function matchingSteps(compiled: RE2JS, text: string): number {
  const instructions = compiled.programSize()
  return text.length * (instructions <= SMALL_PROGRAM ? 1 : instructions)
}
