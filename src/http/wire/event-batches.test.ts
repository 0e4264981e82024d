import { expect, test } from 'vitest'
import { createEventBatches } from './event-batches.js'
import type { Outgoing } from './exchange.js'

/** A client that reads when it is asked to. */
interface Client {
  readonly written: Buffer[]
  isFull: boolean
  read(): void
  texts(): string[]
  readonly outgoing: Outgoing
}

function client(): Client {
  const written: Buffer[] = []
  let drain = (): void => {}
  const self: Client = {
    written,
    isFull: false,
    read() {
      self.isFull = false
      drain()
    },
    texts: () => written.map(String),
    outgoing: {
      write(chunk) {
        written.push(chunk as Buffer)
        return !self.isFull
      },
      onDrain(listener) {
        drain = listener
      },
      end() {},
      abort() {},
    },
  }
  return self
}

const event = (text: string): Buffer => Buffer.from(text)
const turn = () => new Promise(resolve => setImmediate(resolve))

test('events of one turn leave in one piece, which watches with the same events share', async () => {
  const batches = createEventBatches()
  const clients = [client(), client(), client()]
  const writers = clients.map(({ outgoing }) => batches.open(outgoing, () => {}))
  const [a, b] = [event('a'), event('b')]
  for (const writer of writers) expect(writer.write(a)).toBe(true)
  for (const writer of writers.slice(0, 2)) writer.write(b)
  await turn()
  expect(clients.map(each => each.texts())).toEqual([['ab'], ['ab'], ['a']])
  expect(clients[0]!.written[0]).toBe(clients[1]!.written[0])
  writers[2]!.write(b)
  await turn()
  expect(clients[2]!.texts()).toEqual(['a', 'b'])
})

test('a client that does not read gets no more until it has read', async () => {
  const slow = client()
  let ready = 0
  const writer = createEventBatches().open(slow.outgoing, () => ready++)
  slow.isFull = true
  expect(writer.write(event('a'))).toBe(true)
  await turn()
  expect(writer.write(event('b'))).toBe(false)
  await turn()
  expect(slow.texts()).toEqual(['a'])
  slow.read()
  expect(slow.texts()).toEqual(['a', 'b'])
  expect(ready).toBe(1)
  expect(writer.write(event('c'))).toBe(true)
})

test('many bytes are not kept until the end of the turn', () => {
  const fast = client()
  const writer = createEventBatches().open(fast.outgoing, () => {})
  for (let i = 0; i < 100; i++) writer.write(Buffer.alloc(1024))
  expect(fast.written).toHaveLength(1)
  writer.flush()
  expect(Buffer.concat(fast.written)).toHaveLength(100 * 1024)
})
