import { expect, test } from 'vitest'
import { createBodyBuffer } from './body-buffer.js'

test('parts are joined in order', () => {
  const body = createBodyBuffer()
  for (const part of ['a', 'bc', '', 'd'.repeat(9_000), 'e']) body.add(Buffer.from(part))
  expect(body.take().toString()).toBe(`abc${'d'.repeat(9_000)}e`)
  expect(body.size).toBe(9_004)
})

test('a part that is most of its memory is not copied', () => {
  const body = createBodyBuffer()
  const part = Buffer.allocUnsafeSlow(1_000)
  body.add(part.subarray(300))
  expect(body.take().buffer).toBe(part.buffer)
})

test('small parts keep nothing of what came with them', () => {
  const body = createBodyBuffer()
  for (let i = 0; i < 100; i++) body.add(Buffer.allocUnsafeSlow(65_536).subarray(0, 1))
  expect(body.take().buffer.byteLength).toBe(4_096)
})
