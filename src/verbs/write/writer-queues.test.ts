import { expect, test, vi } from 'vitest'
import { createWriterQueues, type WriterQueues } from './writer-queues.js'

/** Whether a writer that comes now must wait for its turn. */
function isBusy(queues: WriterQueues, key: string): boolean {
  const end = queues.begin(key)
  end?.()
  return end === undefined
}

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
  expect(isBusy(queues, 'a')).toBe(false)
  const all = ['1', '2', '3'].map(write)
  expect(isBusy(queues, 'a')).toBe(true)
  expect(isBusy(queues, 'b')).toBe(false)
  await Promise.all(all)
  expect(order).toEqual(['1', '2', '3'])
  expect(isBusy(queues, 'a')).toBe(false)
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
  expect(isBusy(queues, 'a')).toBe(false)
})

test('a turn lasts longer while the process is busy', async () => {
  vi.useFakeTimers()
  try {
    const queues = createWriterQueues(100, () => 0)
    await queues.enter('a', request())
    let isTurn = false
    const second = queues.enter('a', request()).then(() => (isTurn = true))
    await vi.advanceTimersByTimeAsync(350)
    expect(isTurn).toBe(false)
    await vi.advanceTimersByTimeAsync(50)
    await second
    expect(isTurn).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a turn that lasts too long does not hold up the next writer', async () => {
  vi.useFakeTimers()
  try {
    const queues = createWriterQueues(100, Date.now)
    const late = await queues.enter('a', request())
    const second = queues.enter('a', request())
    vi.advanceTimersByTime(100)
    const leave = await second
    // The end of the turn that was over already takes nothing from the others.
    late()
    expect(isBusy(queues, 'a')).toBe(true)
    leave()
    expect(isBusy(queues, 'a')).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('two writers begin without a turn, and a third waits for its turn', async () => {
  const queues = createWriterQueues()
  const ends = [queues.begin('a'), queues.begin('a')]
  expect(queues.begin('a')).toBeUndefined()
  expect(isBusy(queues, 'b')).toBe(false)
  const leave = await queues.enter('a', request())
  // Ends twice, and counts once.
  ends[0]!()
  ends[0]!()
  expect(isBusy(queues, 'a')).toBe(true)
  leave()
  const third = queues.begin('a')
  expect(third).toBeDefined()
  expect(isBusy(queues, 'a')).toBe(true)
  third!()
  ends[1]!()
  expect(isBusy(queues, 'a')).toBe(false)
})
