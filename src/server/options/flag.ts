// A command line flag as data: how its value is read, its default, and what --help says about it.

export interface Flag<T> {
  /** What --help shows in the place of the value; a switch has none. */
  readonly placeholder?: string
  readonly about: string
  /** The value when the flag is not given. */
  readonly initial: T
  /** How --help prints the default, where that is not plain from `initial`. */
  readonly byDefault?: string
  /** The value as Go's flags print it, where that is not plain from its type. */
  print?(value: T): string
  /** Reads a value. `before` is what an earlier occurrence of the flag gave, for flags that may be repeated. */
  read(text: string, before: T): T
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>

export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: T[K] extends Flag<infer V> ? V : never }

/** The values of flags by name, as kube-apiserver prints them at /flagz. */
export const printFlagValues = <T extends FlagTable>(table: T, values: FlagValues<T>): Record<string, string> =>
  Object.fromEntries(
    Object.keys(table).map(name => {
      const flag = table[name]!
      const value: unknown = values[name]
      return [name, flag.print ? flag.print(value) : printValue(value)]
    }),
  )

function printValue(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return `[${value.join(',')}]`
  if (value instanceof Map) return printPairs([...value])
  if (typeof value === 'object') return printPairs(Object.entries(value))
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const printPairs = (pairs: readonly (readonly [unknown, unknown])[]): string =>
  pairs.map(([key, value]) => `${printValue(key)}=${printValue(value)}`).join(',')
