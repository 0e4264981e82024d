// Lists of completion indexes as jobs write them: `1,3-5,7`.
import { quote } from '../../meta/go/go-text.js'

export type ParsedIndexes =
  | { readonly ok: true; readonly value: readonly Interval[] }
  | { readonly ok: false; readonly error: string }

/** First and last index. */
export type Interval = readonly [first: number, last: number]

/** Reads a list of increasing intervals, all below the number of completions. */
export function parseIndexes(text: string, completions: number): ParsedIndexes {
  const intervals: Interval[] = []
  if (text === '') return { ok: true, value: intervals }
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions)
    if (typeof interval === 'string') return { ok: false, error: interval }
    const before = intervals.at(-1)
    if (before !== undefined && before[1] >= interval[0]) {
      return { ok: false, error: notIncreasing(before[1], interval[0]) }
    }
    intervals.push(interval)
  }
  return { ok: true, value: intervals }
}

export const countIndexes = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0)

const notIncreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`

/** The interval, or the reason why the text is none. */
function parseInterval(text: string, completions: number): Interval | string {
  const parts = text.split('-')
  if (parts.length > 2) {
    return `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  }
  const numbers: number[] = []
  for (const part of parts) {
    if (!/^[+-]?\d+$/.test(part)) return `cannot convert string to integer for index: ${quote(part)}`
    if (Number(part) >= completions) return `too large index: ${quote(part)}`
    numbers.push(Number(part))
  }
  const [first = 0, last] = numbers
  if (last === undefined) return [first, first]
  return first >= last ? notIncreasing(first, last) : [first, last]
}

/** The first index that is in an interval of both lists, which are in order. Parts that are no intervals are left out. */
export function firstCommonIndex(a: string, b: string, completions: number): number | undefined {
  const intervalsOf = (text: string): Interval[] =>
    text.split(',').flatMap(part => {
      const interval = parseInterval(part, completions)
      return typeof interval === 'string' ? [] : [interval]
    })
  const [ofA, ofB] = [intervalsOf(a), intervalsOf(b)]
  for (let i = 0, j = 0; i < ofA.length && j < ofB.length; ) {
    const [own, other] = [ofA[i]!, ofB[j]!]
    if (own[0] <= other[1] && other[0] <= own[1]) return Math.max(own[0], other[0])
    if (own[0] <= other[0]) i++
    else j++
  }
  return undefined
}
