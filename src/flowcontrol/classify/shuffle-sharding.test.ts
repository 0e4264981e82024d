import { expect, test } from 'vitest'
import { dealHand, hashFlow } from './shuffle-sharding.js'

test('a hand has different queues, the same ones for the same flow', () => {
  for (const user of ['a', 'b', 'c', 'd']) {
    const hand = dealHand(hashFlow('schema', user), 64, 8)
    expect(new Set(hand).size).toBe(8)
    expect(hand.every(card => card >= 0 && card < 64)).toBe(true)
    expect(dealHand(hashFlow('schema', user), 64, 8)).toEqual(hand)
  }
  expect(dealHand(hashFlow('schema', 'a'), 64, 8)).not.toEqual(dealHand(hashFlow('schema', 'b'), 64, 8))
})

test('every hand of a small deck is dealt', () => {
  const hands = new Set(Array.from({ length: 12 }, (_, hash) => dealHand(BigInt(hash), 4, 2).join()))
  expect(hands.size).toBe(12)
})
