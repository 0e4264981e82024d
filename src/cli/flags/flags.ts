// Reads a command line by a table of flags, by the rules of kube-apiserver: `--flag=value` or `--flag value`; a switch
// alone is true and is switched off by `--flag=false` only; `_` in a name means `-`.
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { Flag, FlagTable, FlagValues, OtherFlag } from '../../server/options.js'

export interface ParsedFlags<T extends FlagTable> {
  readonly values: FlagValues<T>
  /** The flags that were given. */
  readonly given: ReadonlySet<string>
  /** The flags that were accepted without effect, each once. */
  readonly ignored: readonly string[]
}

/** Throws a UsageError that says what is wrong, and what would be right. `others` are not in the table, and known. */
export function parseFlags<T extends FlagTable>(
  args: readonly string[],
  table: T,
  others: ReadonlyMap<string, OtherFlag> = new Map(),
): ParsedFlags<T> {
  const values: Record<string, unknown> = {}
  for (const [name, { initial }] of Object.entries(table)) values[name] = initial
  const given = new Set<string>()
  const ignored = new Set<string>()
  const rest = args.values()
  for (const arg of rest) {
    const { name, value } = splitFlag(arg)
    const flag = Object.hasOwn(table, name) ? table[name] : undefined
    const other = others.get(name)
    if (!flag && !other) throw unknownFlag(arg, name, [...Object.keys(table), ...others.keys()])
    if (!flag && other?.refusal !== undefined) throw new UsageError(`--${name} is refused: ${other.refusal}`)
    const isSwitch = flag ? flag.placeholder === undefined : other!.isSwitch
    const text = value ?? (isSwitch ? 'true' : rest.next().value)
    if (text === undefined) {
      throw new UsageError(`--${name} needs a value: --${name}=${flag?.placeholder ?? '<value>'}`)
    }
    if (!flag) {
      ignored.add(name)
      continue
    }
    values[name] = readValue(name, flag, text, values[name])
    given.add(name)
  }
  return { values: values as FlagValues<T>, given, ignored: [...ignored] }
}

export interface ParsedArguments<T extends FlagTable> extends ParsedFlags<T> {
  /** The arguments that are no flags, such as files; `-` is one of them. */
  readonly words: readonly string[]
}

/** The same for a command that also takes arguments that are no flags; all that follow `--` are such. */
export function parseArguments<T extends FlagTable>(args: readonly string[], table: T): ParsedArguments<T> {
  const words: string[] = []
  const flags: string[] = []
  const rest = args.values()
  for (const arg of rest) {
    if (arg === '--') words.push(...rest)
    else if (arg === '-' || !arg.startsWith('-')) words.push(arg)
    else {
      flags.push(arg)
      const { name, value } = splitFlag(arg)
      const flag = Object.hasOwn(table, name) ? table[name] : undefined
      if (flag?.placeholder === undefined || value !== undefined) continue
      const { value: next } = rest.next()
      if (next !== undefined) flags.push(next)
    }
  }
  return { ...parseFlags(flags, table), words }
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

/** The flags with their values, meanings and defaults, a paragraph each. */
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
