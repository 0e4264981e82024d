// A command line flag as data: how its value is read, its default, and what --help says about it.

export interface Flag<T> {
  /** What --help shows in the place of the value; a switch has none. */
  readonly placeholder?: string
  readonly about: string
  /** The value when the flag is not given. */
  readonly initial: T
  /** How --help prints the default, where that is not plain from `initial`. */
  readonly byDefault?: string
  /** Reads a value. `before` is what an earlier occurrence of the flag gave, for flags that may be repeated. */
  read(text: string, before: T): T
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>

export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: T[K] extends Flag<infer V> ? V : never }
