import { expect, test } from 'vitest'
import { decodeState, EMPTY, encodeState } from './shared-state.js'

test('a state comes back from its link', async () => {
  const state = {
    ...EMPTY,
    environment: 'policy' as const,
    expression: 'object.a == "ü😀"',
    object: 'a: 1\n'.repeat(500),
  }
  const text = await encodeState(state)
  expect(text).toMatch(/^[\w-]+$/)
  expect(text.length).toBeLessThan(300)
  expect(await decodeState(text)).toEqual(state)
})

test.each(['', '!!!', 'abc', 'AAAA'])('%j is no state', async text => {
  expect(await decodeState(text)).toBeUndefined()
})
