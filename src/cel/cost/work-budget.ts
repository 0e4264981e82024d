// Costs are cel-go's to the unit, and some of them do not grow with the work behind them: comparing two lists costs the
// same whatever their elements hold, and merging two sets costs only the call. That work is charged here, so that no
// evaluation takes longer than its cost limit is meant to allow. A budget belongs to one evaluation; an evaluation
// inside another one (a variable of a policy) is charged to the budget that it is given.
import { CostLimitExceeded } from '../cel-error.js'

/** Elements that one evaluation may visit, which takes about a third of a second. */
export const MAX_WORK = 4_000_000

/** Texts of this length and longer take noticeable time to read. */
const LONG_TEXT = 256

export class WorkBudget {
  /** Negative once the budget is spent. */
  left: number
  private lengths: Map<string, number> | undefined

  constructor(limit: number = MAX_WORK) {
    this.left = limit
  }

  /** Called before the work is done; also by hosts whose values have their own way to compare or merge. */
  charge(elements: number): void {
    this.left -= elements
    if (this.left < 0) throw new CostLimitExceeded()
  }

  /** Called before so many characters or bytes are read. */
  chargeReading(length: number): void {
    if (length >= LONG_TEXT) this.charge(length / LONG_TEXT)
  }

  /** Called before so many characters are written: the budget ends before a text gets longer than JavaScript allows. */
  chargeWriting(length: number): void {
    this.chargeReading(length * 8)
  }

  /** Code points of a text. Those of long texts are counted once: each comparison in a loop needs them for its cost. */
  codePoints(text: string): number {
    if (text.length < LONG_TEXT) return countCodePoints(text)
    this.lengths ??= new Map()
    let count = this.lengths.get(text)
    if (count === undefined) {
      count = countCodePoints(text)
      this.lengths.set(text, count)
    }
    return count
  }

  /** Whether two texts are equal. Many characters are compared in the time that one element takes. */
  equalTexts(a: string, b: string): boolean {
    if (a.length !== b.length) return false
    this.chargeReading(a.length)
    return a === b
  }
}

const HIGH_SURROGATE = /[\ud800-\udbff]/

export function countCodePoints(text: string): number {
  // Most texts have no character of two units; the regular expression is faster than the loop.
  if (!HIGH_SURROGATE.test(text)) return text.length
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
