// How rules spell the names of properties. A name that is no identifier is escaped; one that cannot be escaped is not to
// be seen from rules.

/** The name of a property as a rule spells it, or undefined where no rule can. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replaceAll(/__|[./-]/g, part => ESCAPES[part]!)
}

/** Words of the language, which stand for nothing else. Most of them may be selected as fields all the same. */
export const isReserved = (name: string): boolean => RESERVED.has(name)

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

const RESERVED: ReadonlySet<string> = new Set([
  'as',
  'break',
  'const',
  'continue',
  'else',
  'false',
  'for',
  'function',
  'if',
  'import',
  'in',
  'let',
  'loop',
  'namespace',
  'null',
  'package',
  'return',
  'true',
  'var',
  'void',
  'while',
])
