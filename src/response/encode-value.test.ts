import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { encodeInPieces } from './encode-value.js'

/** The longest text that V8 has. */
const LONGEST_TEXT = 2 ** 29 - 24

test('a value whose YAML is longer than any text is encoded in pieces', { timeout: 60_000 }, async () => {
  // Each of the last lines begins with as many blanks as the value is deep.
  const depth = 8_000
  let value: ValueObject = Object.fromEntries(Array.from({ length: 36_000 }, (_, i) => [`k${i}`, 1]))
  for (let i = 0; i < depth; i++) value = { a: value }
  const pieces = encodeInPieces(value, { encoding: 'yaml', pretty: false })
  let bytes = 0
  let largest = 0
  for await (const { length } of pieces as AsyncIterable<Buffer>) {
    bytes += length
    largest = Math.max(largest, length)
  }
  expect(bytes).toBeGreaterThan(LONGEST_TEXT)
  expect(largest).toBeLessThan(2 ** 20)
})
