import { expect, test } from 'vitest'
import { createSpanQueue } from './span-queue.js'

const spans = (count: number, size: number): Buffer[] => Array.from({ length: count }, (_, i) => Buffer.alloc(size, i))

test('batches are taken in the order of the spans', () => {
  const queue = createSpanQueue()
  const all = spans(600, 10)
  for (const span of all) queue.push(span)
  expect(queue.isFull).toBe(true)
  expect(queue.take()).toEqual(all.slice(0, 512))
  expect([queue.isFull, queue.length]).toEqual([false, 88])
  expect(queue.take()).toEqual(all.slice(512))
  expect(queue.take()).toEqual([])
})

test('a batch has at most a mebibyte', () => {
  const queue = createSpanQueue()
  for (const span of spans(5, 400_000)) queue.push(span)
  expect([queue.isFull, queue.take().length, queue.take().length, queue.take().length]).toEqual([true, 2, 2, 1])
})

test('spans that are too many, too long or have too many bytes together are dropped', () => {
  const many = createSpanQueue()
  for (const span of spans(3_000, 1)) many.push(span)
  expect(many.length).toBe(2048)
  const large = createSpanQueue()
  for (const span of [...spans(1, 2 ** 20 + 1), ...spans(100, 2 ** 20)]) large.push(span)
  expect(large.length).toBe(16)
})

test('what was not sent comes before the others, of which the last are dropped', () => {
  const queue = createSpanQueue()
  const all = spans(16, 2 ** 20)
  for (const span of all) queue.push(span)
  const taken = queue.take()
  queue.push(Buffer.alloc(2 ** 20, 99))
  queue.putBack(taken)
  expect(queue.length).toBe(16)
  expect(queue.take()[0]).toBe(all[0])
})
