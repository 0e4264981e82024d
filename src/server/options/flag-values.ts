// The types of values that flags have.

import { UsageError } from '../../base/usage-error.js'
import { printDuration } from '../../meta/values/time.js'
import type { Flag } from './flag.js'

export const text = (placeholder: string, about: string, initial: string): Flag<string> => ({
  placeholder,
  about,
  initial,
  read: given => given,
})

/** One entry for each occurrence of the flag, commas included: file names and URLs may contain them. */
export const repeatedText = (placeholder: string, about: string): Flag<readonly string[]> => ({
  placeholder,
  about,
  initial: [],
  read: (given, before) => [...before, given],
})

export const optionalText = (placeholder: string, about: string): Flag<string | undefined> => ({
  placeholder,
  about,
  initial: undefined,
  read: given => (given === '' ? undefined : given),
})

export const choice = <C extends string>(
  choices: readonly C[],
  about: string,
  initial: C | undefined,
): Flag<C | undefined> => ({
  placeholder: choices.join('|'),
  about,
  initial,
  read(given) {
    const chosen = choices.find(each => each === given)
    if (chosen === undefined) throw new UsageError(`it must be one of ${choices.join(', ')}`)
    return chosen
  },
})

/** Several occurrences of the flag are joined to one list. */
export const list = (placeholder: string, about: string, initial: readonly string[] = []): Flag<readonly string[]> => ({
  placeholder,
  about,
  initial,
  read: (given, before) => [...(before === initial ? [] : before), ...splitList(given)],
})

const splitList = (given: string): string[] =>
  given
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)

export const toggle = (about: string, initial: boolean): Flag<boolean> => ({ about, initial, read: readBoolean })

const TRUE = new Set(['true', 'True', 'TRUE', 't', 'T', '1'])
const FALSE = new Set(['false', 'False', 'FALSE', 'f', 'F', '0'])

function readBoolean(given: string): boolean {
  if (TRUE.has(given)) return true
  if (FALSE.has(given)) return false
  throw new UsageError('it must be true or false')
}

export const port = <I extends number | undefined>(about: string, initial: I): Flag<number | I> => ({
  placeholder: '<port>',
  about,
  initial,
  read(given) {
    const number = readWhole(given)
    if (number === undefined || number > 65_535) throw new UsageError('a port is a whole number from 0 to 65535')
    return number
  },
})

export const count = (about: string, initial: number): Flag<number> => ({
  placeholder: '<number>',
  about,
  initial,
  read(given) {
    const number = readWhole(given)
    if (number === undefined) throw new UsageError('it must be a whole number, 0 or more')
    return number
  },
})

const readWhole = (given: string): number | undefined => {
  const number = Number(given)
  return /^[0-9]+$/.test(given) && Number.isSafeInteger(number) ? number : undefined
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Milliseconds, written as Go writes durations: `1m30s`, `500ms`. */
export const duration = (about: string, initialMs: number): Flag<number> => ({
  placeholder: '<duration>',
  about,
  initial: initialMs,
  byDefault: `${initialMs / 1000}s`,
  print: value => printDuration(BigInt(Math.round(value * 1e6))),
  read(given) {
    if (given === '0') return 0
    const parts = [...given.matchAll(/([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)/g)]
    if (parts.length === 0 || parts.map(([part]) => part).join('') !== given) {
      throw new UsageError('it must be a duration such as 30s, 1m30s or 500ms')
    }
    return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNIT_MS[unit!]!, 0)
  },
})

/** `key=true,key=false`. Of several values for one key, the last one counts. */
export const booleans = (
  placeholder: string,
  about: string,
  example: string,
): Flag<Readonly<Record<string, boolean>>> => ({
  placeholder,
  about,
  initial: {},
  read(given, before) {
    const values = { ...before }
    for (const pair of splitList(given)) {
      const [key = '', value = 'true', ...more] = pair.split('=').map(each => each.trim())
      if (key === '' || more.length > 0 || !(TRUE.has(value) || FALSE.has(value))) {
        throw new UsageError(`${JSON.stringify(pair)} must be a name and true or false, such as ${example}`)
      }
      values[key] = TRUE.has(value)
    }
    return values
  },
})
