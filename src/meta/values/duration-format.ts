// Durations as texts: those of Go, and any text with numbers and units in it, such as `3 days` or `1 hour and 3 minutes`.
import { parseDuration } from './time.js'

const MILLISECOND = 1_000_000n
const SECOND = 1000n * MILLISECOND
const HOUR = 3600n * SECOND

/** Units by their names, and by what their long names begin with. */
const UNITS: readonly { readonly names: readonly string[]; readonly start: string; readonly nanos: bigint }[] = [
  { names: ['ns'], start: 'nano', nanos: 1n },
  { names: ['us', 'µs'], start: 'micro', nanos: 1000n },
  { names: ['ms'], start: 'milli', nanos: MILLISECOND },
  { names: ['s'], start: 'sec', nanos: SECOND },
  { names: ['m'], start: 'min', nanos: 60n * SECOND },
  { names: ['h', 'hr'], start: 'hour', nanos: HOUR },
  { names: ['d'], start: 'day', nanos: 24n * HOUR },
  { names: ['w', 'wk'], start: 'week', nanos: 168n * HOUR },
]

/** The nanoseconds of a duration, an int64 that may have overflowed; undefined where the text is none. */
export function readDuration(text: string): bigint | undefined {
  const plain = parseDuration(text)
  if (plain.ok) return plain.value
  let total: bigint | undefined
  for (const [, digits = '', word = ''] of text.matchAll(/(?<![0-9])([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    if (digits.length > MAX_DIGITS || BigInt(digits) > MAX_INT) return undefined
    const name = word.toLowerCase()
    const unit = UNITS.find(({ names, start }) => names.includes(name) || name.startsWith(start))
    if (unit !== undefined) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(digits) * unit.nanos)
  }
  return total
}

const MAX_INT = 2n ** 63n - 1n
const MAX_DIGITS = 30
