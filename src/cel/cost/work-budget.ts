// Costs are the reference's to the unit, and some of them say little of the work behind them: to compare two lists costs
// the same whatever their elements hold, to merge two sets costs nothing but the call. What costs leave out is counted
// here, so that no evaluation takes longer than its limit is meant to allow; there is only ever one under way.
import { CostLimitExceeded } from '../cel-error.js'

/** Elements that one evaluation may look at, which is about a second; what costs account for stays below. */
export const MAX_EFFORT = 12_000_000

// Between evaluations nobody counts.
let left = Number.POSITIVE_INFINITY

export function beginEffort(limit: number): void {
  left = limit
  if (lengths.size > 0) lengths.clear()
}

export const endEffort = (): void => beginEffort(Number.POSITIVE_INFINITY)

/** What is left of the limit. */
export const effortLeft = (): number => left

/** To be called before the work is done; for hosts, too, whose values are compared or merged in ways of their own. */
export function effort(elements: number): void {
  left -= elements
  if (left < 0) throw new CostLimitExceeded()
}

/** Texts beyond this take time to look at. */
const LONG_TEXT = 256

/** The lengths of long texts, which are asked for again and again: each comparison in a loop wants to know its price. */
const lengths = new Map<string, number>()

/** Code points of a text. */
export function codePoints(text: string): number {
  if (text.length < LONG_TEXT) return countCodePoints(text)
  let count = lengths.get(text)
  if (count === undefined) {
    count = countCodePoints(text)
    lengths.set(text, count)
  }
  return count
}

const HALF_OF_A_PAIR = /[\ud800-\udbff]/

function countCodePoints(text: string): number {
  // Most texts have no character that takes two units, which this finds out faster than a loop.
  if (!HALF_OF_A_PAIR.test(text)) return text.length
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    // A pair of surrogates is one character.
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next < 0xe000) {
        count--
        i++
      }
    }
  }
  return count
}

/** Whether two texts are the same. Many characters are compared in the time that an element takes. */
export function sameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  textEffort(a.length)
  return a === b
}

/** To be called before so many characters or bytes are read or written. */
export function textEffort(length: number): void {
  if (length >= LONG_TEXT) effort(length / LONG_TEXT)
}

/** The same for a text that is made: before it gets longer than a text can be, there is no effort left. */
export const writingEffort = (length: number): void => textEffort(length * 8)
