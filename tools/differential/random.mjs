// Random choices that a seed repeats: the same seed makes the same work.

/** A source of random choices (the generator is mulberry32). */
export function createRandom(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const random = {
    /** From 0 to 1. */
    next,
    /** A whole number from 0 to `limit` - 1. */
    below: limit => Math.floor(next() * limit),
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: probability => next() < probability,
    pick: list => list[Math.floor(next() * list.length)],
    /** Some members of the list, in its order. */
    some: (list, probability = 0.5) => list.filter(() => next() < probability),
    /** One of `[[weight, value], …]`. */
    weighted(choices) {
      let rest = next() * choices.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, value] of choices) if ((rest -= weight) < 0) return value
      return choices[0][1]
    },
    /** A list of `count` results. */
    times: (count, make) => Array.from({ length: count }, (_, i) => make(i)),
  }
  return random
}
