// Reads a command line by a table of flags, with the manners of kube-apiserver: `--flag=value` or `--flag value`, a
// switch alone is true and is turned off by `--flag=false` only, `_` is as good as `-`.
import { nearest } from './nearest.js'
import { UsageError } from './usage-error.js'

export interface Flag<T> {
  /** What help shows in the place of the value; a switch has none. */
  readonly placeholder?: string
  readonly about: string
  /** What it is when nobody says. */
  readonly initial: T
  /** How help tells that, where it is not plain from the value. */
  readonly byDefault?: string
  /** Takes a value that was given; `before` is what an earlier one gave, for flags that may be repeated. */
  read(text: string, before: T): T
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>

export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: T[K] extends Flag<infer V> ? V : never }

/** Flags that are taken and not heeded: whether each has a value. */
export type IgnoredFlags = ReadonlyMap<string, 'value' | 'switch'>

export interface ParsedFlags<T extends FlagTable> {
  readonly values: FlagValues<T>
  /** Which of them the user gave. */
  readonly given: ReadonlySet<keyof T>
  /** The flags that were not heeded, each once. */
  readonly ignored: readonly string[]
}

/** Throws a UsageError that says what is wrong, and what would be right. */
export function parseFlags<T extends FlagTable>(
  args: readonly string[],
  table: T,
  ignorable: IgnoredFlags = new Map(),
): ParsedFlags<T> {
  const values: Record<string, unknown> = {}
  for (const [name, { initial }] of Object.entries(table)) values[name] = initial
  const given = new Set<string>()
  const ignored = new Set<string>()
  const rest = args.values()
  for (const arg of rest) {
    const { name, value } = splitFlag(arg)
    const known = Object.hasOwn(table, name) ? table[name] : undefined
    const isSwitch = known ? known.placeholder === undefined : ignorable.get(name) === 'switch'
    if (!known && !ignorable.has(name)) throw unknownFlag(arg, name, [...Object.keys(table), ...ignorable.keys()])
    const text = value ?? (isSwitch ? 'true' : rest.next().value)
    if (text === undefined)
      throw new UsageError(`--${name} needs a value: --${name}=${known?.placeholder ?? '<value>'}`)
    if (!known) {
      ignored.add(name)
      continue
    }
    values[name] = readValue(name, known, text, values[name])
    given.add(name)
  }
  return { values: values as FlagValues<T>, given, ignored: [...ignored] }
}

function splitFlag(arg: string): { name: string; value: string | undefined } {
  const [, short] = /^-([a-z])(?:=|$)/.exec(arg) ?? []
  if (!arg.startsWith('--') && !short) {
    const hint = /^(true|false)$/.test(arg) ? '; the value of a switch follows a "=", as in --anonymous-auth=false' : ''
    throw new UsageError(`${JSON.stringify(arg)} is not a flag: all arguments are flags, --flag=value${hint}`)
  }
  const at = arg.indexOf('=')
  const name = (at === -1 ? arg : arg.slice(0, at)).replace(/^--?/, '').replaceAll('_', '-')
  return { name, value: at === -1 ? undefined : arg.slice(at + 1) }
}

function unknownFlag(arg: string, name: string, names: readonly string[]): UsageError {
  const near = nearest(name, names)
  const hint = near === undefined ? '--help shows all flags' : `did you mean --${near}?`
  return new UsageError(`there is no flag ${arg.split('=')[0]}: ${hint}`)
}

function readValue<V>(name: string, flag: Flag<V>, text: string, before: V): V {
  try {
    return flag.read(text, before)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`--${name}=${text}: ${error.message}`)
  }
}

/** The flags, their values and what they are for, a paragraph each. */
export function printFlags(table: FlagTable): string {
  const lines = Object.entries(table).map(
    ([name, { placeholder, about, initial, byDefault = printInitial(initial) }]) => {
      const flag = `  --${name}${placeholder === undefined ? '' : `=${placeholder}`}`
      return `${flag}\n      ${about}${byDefault === '' ? '' : ` (default: ${byDefault})`}`
    },
  )
  return lines.join('\n')
}

function printInitial(initial: unknown): string {
  if (typeof initial === 'string' || typeof initial === 'number' || initial === true) return String(initial)
  return Array.isArray(initial) ? initial.join(',') : ''
}
