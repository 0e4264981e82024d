// Errors of literals that are found without evaluation: invalid durations, timestamps and patterns, lists and maps
// whose parts have several types, formats that do not fit their arguments.
import type { Environment } from '../environment.js'
import type { Issue } from '../syntax/source.js'
import { type CallExpr, childrenOf, type Expr } from '../syntax/syntax-tree.js'
import { parseFormatClause } from '../values/format-clauses.js'
import { durationFromText, parseTimestamp } from '../values/moments.js'
import { patternError } from '../values/patterns.js'
import { type CelType, isOptional, printType, sameValues } from './cel-type.js'
import type { Checked } from './checker.js'

/** No more errors than this are printed. */
const MAX_REPEATED_ERRORS = 100

export function checkLiterals(checked: Checked, environment: Environment): readonly Issue[] {
  if (environment.checkLiterals !== true) return []
  const issues: Issue[] = []
  const errorsOfShared = new Map<Expr, readonly Issue[]>()
  const visit = (expr: Expr, inFormat: boolean): void => {
    const errors = errorsOfShared.get(expr)
    if (errors !== undefined) {
      issues.push(...errors)
      return
    }
    const before = issues.length
    visitNode(expr, inFormat)
    if (expr.shared) errorsOfShared.set(expr, issues.slice(before, before + MAX_REPEATED_ERRORS))
  }
  const visitNode = (expr: Expr, inFormat: boolean): void => {
    if (expr.kind === 'call') issues.push(...argumentErrors(expr), ...formatErrors(checked, expr))
    // The arguments of a format may well be of several types.
    if (environment.homogeneousLiterals === true && !inFormat) issues.push(...mixedParts(checked, expr))
    const within = inFormat || (expr.kind === 'call' && expr.name === 'format')
    for (const child of childrenOf(expr)) visit(child, within)
  }
  visit(checked.expr, false)
  return issues
}

function argumentErrors({ name, target, args }: CallExpr): Issue[] {
  const at = name === 'matches' && target === undefined ? args[1] : args[0]
  if (at?.kind !== 'literal') return []
  const { value, offset } = at
  const invalid = [{ offset, message: `invalid ${name} argument` }]
  if (name === 'duration') return typeof value === 'string' && durationFromText(value) ? [] : invalid
  if (name === 'timestamp' && (typeof value === 'bigint' || typeof value === 'number'))
    return isTimestamp(value) ? [] : invalid
  if (typeof value !== 'string') return []
  if (name === 'timestamp') {
    const time = parseTimestamp(value)
    return time && isTimestamp(time.seconds) ? [] : invalid
  }
  if (name === 'matches') return patternError(value) ? invalid : []
  return []
}

/** Seconds since 1970 from the year 1 to the year 9999. */
const isTimestamp = (seconds: number | bigint): boolean => seconds >= -62_135_596_800 && seconds <= 253_402_300_799

/** Which kinds of value each verb takes, and its error for others. */
const VERBS: Readonly<Record<string, { readonly kinds: readonly string[]; readonly rule: string }>> = {
  d: { kinds: ['int', 'uint'], rule: 'decimal clause can only be used on integers' },
  f: { kinds: ['double', 'string'], rule: 'fixed-point clause can only be used on doubles' },
  e: { kinds: ['double', 'string'], rule: 'scientific clause can only be used on doubles' },
  b: { kinds: ['int', 'uint', 'bool'], rule: 'only integers and bools can be formatted as binary' },
  o: { kinds: ['int', 'uint'], rule: 'octal clause can only be used on integers' },
  x: {
    kinds: ['int', 'uint', 'string', 'bytes'],
    rule: 'only integers, byte buffers, and strings can be formatted as hex',
  },
}

function formatErrors({ types }: Checked, { name, target, args, offset }: CallExpr): Issue[] {
  const [list] = args
  if (name !== 'format' || target?.kind !== 'literal' || typeof target.value !== 'string') return []
  if (args.length !== 1 || list?.kind !== 'list') return []
  let used = 0
  const format = target.value
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', at)) {
    if (format[at + 1] === '%') {
      at += 2
      continue
    }
    if (at + 1 === format.length) return [{ offset, message: 'unexpected end of string' }]
    const argument = list.elements[used]
    if (argument === undefined) return [{ offset, message: `index ${used} out of range` }]
    const clause = parseFormatClause(format, at)
    if ('error' in clause) return [{ offset, message: clause.error }]
    const { verb } = clause
    const type = types[argument.id]
    const taken = VERBS[verb.toLowerCase()]
    if (taken && type && type.kind !== 'dyn' && !taken.kinds.includes(type.kind)) {
      const message = `error during formatting: ${taken.rule}, was given ${type.name}`
      return [{ offset: argument.offset, message }]
    }
    const unprintable = verb === 's' ? findUnprintable(types, argument) : undefined
    if (unprintable) {
      const message = `error during formatting: ${STRING_RULE}, was given ${types[unprintable.id]?.name}`
      return [{ offset: unprintable.offset, message }]
    }
    at = clause.end
    used++
  }
  const given = list.elements.length
  if (given <= used) return []
  return [{ offset, message: `too many arguments supplied to string.format (expected ${used}, got ${given})` }]
}

const STRING_RULE =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'

const PRINTABLE: ReadonlySet<string> = new Set(
  'list map int uint double bool string timestamp bytes duration type null dyn any error'.split(' '),
)

/** The part of an argument that a string clause cannot print. */
function findUnprintable(types: Checked['types'], expr: Expr): Expr | undefined {
  const type = types[expr.id]
  if (type && !PRINTABLE.has(type.kind)) return expr
  const parts = expr.kind === 'list' || expr.kind === 'map' ? childrenOf(expr) : []
  for (const part of parts) {
    const found = findUnprintable(types, part)
    if (found) return found
  }
  return undefined
}

function mixedParts({ types }: Checked, expr: Expr): Issue[] {
  const issues: Issue[] = []
  const same = (parts: readonly { readonly expr: Expr; readonly optional: boolean }[]): void => {
    let expected: CelType | undefined
    for (const part of parts) {
      let type = types[part.expr.id]
      if (type === undefined) continue
      if (part.optional && isOptional(type)) type = type.params[0]!
      if (expected === undefined) expected = type
      else if (!sameValues(expected, type)) {
        const message = `expected type '${printType(expected)}' but found '${printType(type)}'`
        issues.push({ offset: part.expr.offset, message })
        if (expr.kind === 'list') return
      }
    }
  }
  if (expr.kind === 'list') {
    same(expr.elements.map((element, i) => ({ expr: element, optional: expr.optional.includes(i) })))
  }
  if (expr.kind === 'map') {
    same(expr.entries.map(({ key }) => ({ expr: key, optional: false })))
    same(expr.entries.map(({ value, optional }) => ({ expr: value, optional })))
  }
  return issues
}
