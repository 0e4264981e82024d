// The names of properties in CEL expressions. A name that is no identifier is escaped; a property whose name cannot be
// escaped is hidden from expressions.

/** The name of a property in expressions; undefined if it has none. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replaceAll(/__|[./-]/g, part => ESCAPES[part]!)
}

/** Reserved words of the language. Most of them may still be selected as fields. */
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
