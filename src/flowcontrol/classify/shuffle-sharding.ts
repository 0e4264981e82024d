// Shuffle sharding: each flow has a hand of queues of its level, by a hash of its names. Two flows seldom share all of
// theirs, so that a flow of many requests leaves queues to the others.
import { createHash } from 'node:crypto'

/** The first 64 bits of a hash of a flow: the name of its schema, and the user or namespace that tells its requests apart. */
export function hashFlow(schema: string, distinguisher: string): bigint {
  return createHash('sha256').update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE()
}

/** The indices of `handSize` different queues of `deckSize`. */
export function dealHand(hash: bigint, deckSize: number, handSize: number): readonly number[] {
  const remainders: number[] = []
  let left = hash
  for (let i = 0; i < handSize; i++) {
    const cards = BigInt(deckSize - i)
    remainders.push(Number(left % cards))
    left /= cards
  }
  // The n-th remainder counts the cards that were not dealt before.
  return remainders.map((remainder, i) => {
    let card = remainder
    for (let j = i; j > 0; j--) if (card >= remainders[j - 1]!) card++
    return card
  })
}
