// Reproducible random choices.

export interface Random {
  /** A whole number from 0 to `below` - 1. */
  number(below: number): number
  chance(probability: number): boolean
  oneOf<T>(choices: readonly T[]): T
  /** An independent source, so that the choices of a client do not depend on the timing of others. */
  fork(): Random
}

/** The seed of this run: a new one each time, unless HISTORY_SEED repeats an earlier run. */
export const SEED = Number(process.env.HISTORY_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  const random: Random = {
    number: below => Math.floor(next() * below),
    chance: probability => next() < probability,
    oneOf: choices => choices[random.number(choices.length)]!,
    fork: () => createRandom(random.number(2 ** 31)),
  }
  return random
}
