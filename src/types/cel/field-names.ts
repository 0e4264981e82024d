// The names of properties in CEL expressions. A name that is no identifier is escaped; a property whose name cannot be
// escaped is hidden from expressions.

/** The name of a property in expressions; undefined if it has none. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replaceAll(/__|[./-]/g, part => ESCAPES[part]!)
}

/** The property that an expression means by a name; undefined if no property has that name. */
export function unescapeName(name: string): string | undefined {
  if (!name.includes('__')) return name
  let isName = true
  const plain = name.replaceAll(/__[^_]+__/g, escaped => {
    const word = escaped.slice(2, -2)
    const part = UNESCAPED.get(word)
    if (part !== undefined) return part
    isName &&= RESERVED.has(word) && escaped === name
    return word
  })
  return isName ? plain : undefined
}

/** Reserved words of the language. Most of them may still be selected as fields. */
export const isReserved = (name: string): boolean => RESERVED.has(name)

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

const UNESCAPED: ReadonlyMap<string, string> = new Map(
  Object.entries(ESCAPES).map(([part, escaped]) => [escaped.slice(2, -2), part]),
)

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
