// Limits how much one validation may do. A schema and a value are each limited in size, but the time is their product: a
// list of 100,000 items, each checked by 10,000 branches of an `anyOf`. kube-apiserver has no such limits.

/** What is left of the work of a validation. */
export interface Effort {
  /** Branches, items and members that may still be looked at. */
  checks: number
  /** Steps of patterns that may still be taken. */
  matching: number
}

/** A large object with a usual schema needs a tenth of it. */
export const MAX_CHECKS = 2_000_000
/** A step takes some 20 ns where the states of a pattern cannot be kept, and less than 1 ns where they can. */
export const MAX_MATCHING = 20_000_000

export const startEffort = (): Effort => ({ checks: MAX_CHECKS, matching: MAX_MATCHING })

/** Ends a validation. The message says what is too much. */
export class TooMuchEffort extends Error {
  override readonly name = 'TooMuchEffort'
}

export function spendChecks(effort: Effort, count: number): void {
  effort.checks -= count
  if (effort.checks < 0) {
    throw new TooMuchEffort(`its validation takes more than ${MAX_CHECKS} checks of values by schemas`)
  }
}

export function spendMatching(effort: Effort, steps: number): void {
  effort.matching -= steps
  if (effort.matching < 0) {
    throw new TooMuchEffort('its texts are too long for the patterns of the schema')
  }
}
