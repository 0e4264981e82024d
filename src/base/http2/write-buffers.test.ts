import { expect, test } from 'vitest'
import { createWriteBuffers } from './write-buffers.js'

test('the memory of a buffer is used again when it was given back, and not before', () => {
  const buffers = createWriteBuffers()
  const [first, second] = [buffers.take(100_000), buffers.take(5_000)]
  expect([first.length, second.length]).toEqual([100_000, 5_000])
  expect(second.buffer).not.toBe(first.buffer)
  buffers.give(first)
  expect(buffers.take(110_000).buffer).toBe(first.buffer)
  expect(buffers.take(110_000).buffer).not.toBe(first.buffer)
})

test('small and very large buffers are not kept', () => {
  const buffers = createWriteBuffers()
  for (const size of [10, 1_000_000]) {
    const buffer = buffers.take(size)
    expect(buffer).toHaveLength(size)
    buffers.give(buffer)
    for (const other of [5_000, 100_000, 300_000]) expect(buffers.take(other).buffer).not.toBe(buffer.buffer)
  }
})

test('a buffer is little larger than its write', () => {
  const buffers = createWriteBuffers()
  expect([5_000, 20_000, 60_000, 300_000].map(size => buffers.take(size).buffer.byteLength / 1024)).toEqual([
    16, 32, 64, 352,
  ])
})

test('only some are kept', () => {
  const buffers = createWriteBuffers(4 * 128 * 1024)
  const taken = Array.from({ length: 10 }, () => buffers.take(100_000))
  for (const buffer of taken) buffers.give(buffer)
  const memory = new Set(taken.map(({ buffer }) => buffer))
  const again = Array.from({ length: 10 }, () => buffers.take(100_000))
  expect(again.filter(({ buffer }) => memory.has(buffer))).toHaveLength(4)
})
