import { expect, test } from 'vitest'
import { hashOf, revisionHash } from './hash.js'

test('does not depend on the order of members', () => {
  expect(hashOf({ b: [{ d: 1, c: '<' }], a: null })).toBe(hashOf({ a: null, b: [{ c: '<', d: 1 }] }))
})

test.each([hashOf, revisionHash])('distinguishes numbers beyond 2^53', hash => {
  const spec = (seconds: bigint) => ({ spec: { terminationGracePeriodSeconds: seconds } })
  expect(hash(spec(2n ** 62n), 0)).not.toBe(hash(spec(2n ** 62n + 1n), 0))
})
