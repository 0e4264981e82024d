import { expect, test, vi } from 'vitest'
import { createWriterQueues } from './writer-queues.js'

const request = (controller = new AbortController()) => ({ signal: controller.signal, aborted: undefined })

test('writers of one object have their turns one after the other, in the order in which they came', async () => {
  const queues = createWriterQueues()
  const order: string[] = []
  let running = 0
  const write = async (name: string): Promise<void> => {
    const leave = await queues.enter('a', request())
    expect(++running).toBe(1)
    order.push(name)
    await Promise.resolve()
    running--
    leave()
  }
  expect(queues.isBusy('a')).toBe(false)
  const all = ['1', '2', '3'].map(write)
  expect(queues.isBusy('a')).toBe(true)
  expect(queues.isBusy('b')).toBe(false)
  await Promise.all(all)
  expect(order).toEqual(['1', '2', '3'])
  expect(queues.isBusy('a')).toBe(false)
})

test('a writer whose client has gone leaves the queue, and the next one follows', async () => {
  const queues = createWriterQueues()
  const first = await queues.enter('a', request())
  const gone = new AbortController()
  const second = queues.enter('a', request(gone))
  const third = queues.enter('a', request())
  gone.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  first()
  ;(await third)()
  expect(queues.isBusy('a')).toBe(false)
})

test('a turn that lasts too long does not hold up the next writer', async () => {
  vi.useFakeTimers()
  try {
    const queues = createWriterQueues(100)
    const late = await queues.enter('a', request())
    const second = queues.enter('a', request())
    vi.advanceTimersByTime(100)
    const leave = await second
    // The end of the turn that was over already takes nothing from the others.
    late()
    expect(queues.isBusy('a')).toBe(true)
    leave()
    expect(queues.isBusy('a')).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})
