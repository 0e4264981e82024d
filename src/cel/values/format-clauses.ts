// The clauses of the first argument of `format`: `%s`, `%.3f`. Read once when an expression is compiled, to check them against
// arguments that are written out, and again when it is evaluated.

export interface FormatClause {
  /** Where what follows the clause begins. */
  readonly end: number
  readonly verb: string
  readonly precision?: number
}

/** The clause whose `%` is at a position, or why there is none. */
export function parseFormatClause(format: string, start: number): FormatClause | { readonly error: string } {
  let at = start + 1
  if (at >= format.length) return { error: 'unexpected end of string' }
  let precision: number | undefined
  if (format[at] === '.') {
    const digits = /^[0-9]*/.exec(format.slice(at + 1))![0]
    at += 1 + digits.length
    if (at >= format.length) return imprecise('could not find end of precision specifier')
    if (digits === '') return imprecise(`${NOT_CONVERTED}: strconv.Atoi: parsing "": invalid syntax`)
    if (BigInt(digits) >= 2n ** 63n)
      return imprecise(`${NOT_CONVERTED}: strconv.Atoi: parsing "${digits}": value out of range`)
    precision = Number(digits)
  }
  const verb = format[at]!
  if (VERBS.includes(verb)) return { end: at + 1, verb, ...(precision !== undefined && { precision }) }
  // kube-apiserver takes the first byte of the character for a character.
  const first = String.fromCharCode(Buffer.from(String.fromCodePoint(format.codePointAt(at)!))[0]!)
  return { error: `could not parse formatting clause: unrecognized formatting clause "${first}"` }
}

const VERBS = 'sdfebxXo'
const NOT_CONVERTED = 'error while converting precision to integer'
const imprecise = (why: string) => ({
  error: `could not parse formatting clause: error while parsing precision: ${why}`,
})
