// Finding one text in another in time linear in both. JavaScript's own search compares long parts again and again: with
// a million characters in three million it takes minutes.
import type { WorkBudget } from '../cost/work-budget.js'

/** Parts up to here are left to JavaScript: no text makes those slow. */
const SHORT = 64

export function indexIn(budget: WorkBudget, text: string, part: string, from = 0): number {
  if (part.length <= SHORT) return text.indexOf(part, from)
  return search(budget, text.length - from, part.length, (i, j) => text.charCodeAt(from + i) === part.charCodeAt(j), {
    matchesItself: (i, j) => part.charCodeAt(i) === part.charCodeAt(j),
    found: at => from + at,
  })
}

/** The last place at which the part begins, at `upTo` or before. */
export function lastIndexIn(budget: WorkBudget, text: string, part: string, upTo = text.length): number {
  if (part.length <= SHORT) return text.lastIndexOf(part, upTo)
  // From the back, both of them.
  const end = Math.min(text.length, upTo + part.length) - 1
  const last = part.length - 1
  return search(budget, end + 1, part.length, (i, j) => text.charCodeAt(end - i) === part.charCodeAt(last - j), {
    matchesItself: (i, j) => part.charCodeAt(last - i) === part.charCodeAt(last - j),
    found: at => end - at - last,
  })
}

export function splitText(budget: WorkBudget, text: string, by: string): string[] {
  if (by.length <= SHORT) return text.split(by)
  const parts: string[] = []
  let start = 0
  for (let at = indexIn(budget, text, by); at !== -1; at = indexIn(budget, text, by, start)) {
    parts.push(text.slice(start, at))
    start = at + by.length
  }
  return [...parts, text.slice(start)]
}

interface Ends {
  readonly matchesItself: (i: number, j: number) => boolean
  readonly found: (at: number) => number
}

/** Knuth, Morris and Pratt: never goes back in the text. */
function search(
  budget: WorkBudget,
  length: number,
  size: number,
  matches: (i: number, j: number) => boolean,
  ends: Ends,
): number {
  if (size > length) return -1
  budget.charge(size / 8)
  const borders = new Int32Array(size)
  for (let i = 1, j = 0; i < size; i++) {
    while (j > 0 && !ends.matchesItself(i, j)) j = borders[j - 1]!
    if (ends.matchesItself(i, j)) j++
    borders[i] = j
  }
  let i = 0
  let j = 0
  for (; i < length && j < size; i++) {
    while (j > 0 && !matches(i, j)) j = borders[j - 1]!
    if (matches(i, j)) j++
  }
  budget.charge(i / 8)
  return j === size ? ends.found(i - size) : -1
}
