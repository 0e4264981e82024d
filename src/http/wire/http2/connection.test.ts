import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR,
  frame,
  GOAWAY,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  MAX_WINDOW,
  NO_ERROR,
  numberFrame,
  PING,
  PREFACE,
  PRIORITY,
  PROTOCOL_ERROR,
  RST_STREAM,
  SETTINGS,
  settingsFrame,
  WINDOW_UPDATE,
} from '../../../base/http2/frames.js'
import { Connection } from './connection.js'
import type { Stream } from './stream.js'

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A connection and its client, which sends frames and sees those that come back. */
function connect(onRequest: (stream: Stream) => void = () => {}) {
  const writes: Buffer[] = []
  /** Called by the client when it has read what was written. */
  let read = (): void => {}
  const state = { reads: true, closed: false }
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      // The connection uses the memory again when the write is done.
      writes.push(Buffer.from(chunk))
      if (state.reads) setImmediate(done)
      else read = done
    },
  })
  Object.assign(socket, { setNoDelay() {}, destroySoon: () => socket.destroy() })
  const connection = new Connection(socket as unknown as Socket, {
    maxStreams: 100,
    maxHeaderBytes: 64 * 1024,
    maxHeaders: 1_000,
    onRequest,
    refuseLargeHeaders: stream => stream.answer(431, {}, 'too large'),
    onClose: () => (state.closed = true),
  })
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  return {
    connection,
    state,
    writes,
    turn,
    readNow: () => read(),
    send: async (...frames: readonly Buffer[]) => {
      socket.push(Buffer.concat(frames))
      await turn()
    },
    frames: () => framesOf(Buffer.concat(writes)),
  }
}

function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3)
    const payload = bytes.subarray(at + 9, at + 9 + length)
    frames.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, stream: bytes.readUInt32BE(at + 5), payload })
    at += 9 + length
  }
  return frames
}

const BEGIN = Buffer.concat([PREFACE, settingsFrame([])])
/** `:method: GET`, `:scheme: https`, `:path: /` of the static table. */
const BLOCK = Buffer.from([0x82, 0x87, 0x84])
const get = (stream: number): Buffer => frame(HEADERS, END_HEADERS | END_STREAM, stream, BLOCK)
/** A field that is far from its end. */
const LARGE_PART = Buffer.concat([Buffer.from([0, 1, 0x61, 0x7f, 0xff, 0xff, 0x3f]), Buffer.alloc(16_000, 0x61)])
const literal = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    ...(value.length < 127
      ? [Buffer.from([value.length])]
      : [Buffer.from([127, ((value.length - 127) & 127) | 128, (value.length - 127) >>> 7])]),
    Buffer.from(value),
  ])
const dataOf = (frames: readonly Frame[], stream: number): Buffer =>
  Buffer.concat(frames.filter(each => each.type === DATA && each.stream === stream).map(({ payload }) => payload))

test('a request is answered, however its bytes are cut', async () => {
  for (const size of [1, 5, 1000]) {
    const client = connect(stream => stream.answer(200, {}, 'hello'))
    const bytes = Buffer.concat([BEGIN, get(1)])
    for (let at = 0; at < bytes.length; at += size) await client.send(bytes.subarray(at, at + size))
    const response = client.frames().filter(({ stream }) => stream === 1)
    expect(response.map(({ type, flags }) => [type, flags])).toEqual([
      [HEADERS, END_HEADERS],
      [DATA, END_STREAM],
    ])
    expect(response[1]!.payload.toString()).toBe('hello')
    expect(client.connection.streams.size).toBe(0)
  }
})

test('responses of one turn leave in one write', async () => {
  const waiting: Stream[] = []
  const client = connect(stream => waiting.push(stream))
  await client.send(BEGIN, ...[1, 3, 5, 7].map(get))
  const before = client.writes.length
  for (const stream of waiting) stream.answer(200, {}, `to ${stream.id}`)
  await client.turn()
  expect(client.writes).toHaveLength(before + 1)
  expect(dataOf(client.frames(), 7).toString()).toBe('to 7')
})

test('events to many streams of a client that reads late all arrive, in order, and each stream is woken', async () => {
  const streams: Stream[] = []
  const client = connect(stream => {
    stream.begin(200, {})
    streams.push(stream)
  })
  await client.send(
    PREFACE,
    settingsFrame([[INITIAL_WINDOW_SIZE, MAX_WINDOW]]),
    numberFrame(WINDOW_UPDATE, 0, MAX_WINDOW - 65_535),
    ...Array.from({ length: 50 }, (_, i) => get(2 * i + 1)),
  )
  client.state.reads = false
  const TOTAL = 400
  const written = streams.map(() => 0)
  /** Writes until the stream wants no more; `onDrain` goes on. */
  const write = (i: number): void => {
    while (written[i]! < TOTAL && streams[i]!.write(Buffer.from(`${String(written[i]!++).padStart(999)}\n`)));
  }
  for (const [i, stream] of streams.entries()) stream.onDrain(() => write(i))
  for (const i of streams.keys()) write(i)
  expect(written.every(count => count < TOTAL)).toBe(true)
  for (let i = 0; i < 1000 && client.connection.held > 0; i++) {
    await client.turn()
    client.readNow()
  }
  const frames = client.frames()
  const expected = Array.from({ length: TOTAL }, (_, i) => i)
  for (const stream of streams) {
    const lines = dataOf(frames, stream.id).toString().split('\n').slice(0, -1)
    expect(lines.map(Number)).toEqual(expected)
  }
})

test('data wait for the windows of the stream and of the connection', async () => {
  const client = connect(stream => stream.answer(200, {}, Buffer.alloc(70_000)))
  await client.send(PREFACE, settingsFrame([[INITIAL_WINDOW_SIZE, 10]]), get(1))
  const length = (): number => dataOf(client.frames(), 1).length
  expect(length()).toBe(10)
  await client.send(settingsFrame([[INITIAL_WINDOW_SIZE, 20]]))
  expect(length()).toBe(20)
  await client.send(numberFrame(WINDOW_UPDATE, 1, 100_000))
  expect(length()).toBe(65_535)
  await client.send(numberFrame(WINDOW_UPDATE, 0, 100_000))
  expect(length()).toBe(70_000)
  expect(client.frames().at(-1)!.flags).toBe(END_STREAM)
})

test('a body comes whole, and the client may send more as it is read', async () => {
  let body: Promise<Buffer> | undefined
  const client = connect(stream => {
    body = stream.body(10_000_000)
  })
  await client.send(BEGIN, frame(HEADERS, END_HEADERS, 1, Buffer.from([0x83, 0x87, 0x84])))
  for (let i = 0; i < 100; i++) await client.send(frame(DATA, i === 99 ? END_STREAM : 0, 1, Buffer.alloc(10_000, i)))
  expect((await body)!.length).toBe(1_000_000)
  expect(client.frames().filter(({ type, stream }) => type === WINDOW_UPDATE && stream === 1)).not.toHaveLength(0)
})

test('a client that waits to send the rest of a body that was answered already is stopped', async () => {
  const streams: Stream[] = []
  const client = connect(stream => streams.push(stream))
  await client.send(BEGIN, frame(HEADERS, END_HEADERS, 1, BLOCK))
  for (let i = 0; i < 16; i++) await client.send(frame(DATA, 0, 1, Buffer.alloc(16_384)))
  streams[0]!.answer(415, {}, 'no')
  await client.turn()
  const [data, reset] = client.frames().slice(-2)
  expect([data!.type, data!.flags, data!.payload.toString()]).toEqual([DATA, END_STREAM, 'no'])
  expect([reset!.type, reset!.payload.readUInt32BE(0)]).toEqual([RST_STREAM, NO_ERROR])
  expect(client.connection.streams.size).toBe(0)
})

test('a request that the client gives up is gone', async () => {
  const streams: Stream[] = []
  let gone = 0
  const client = connect(stream => {
    streams.push(stream)
    stream.onGone(() => gone++)
  })
  await client.send(BEGIN, frame(HEADERS, END_HEADERS, 1, BLOCK))
  const failed = streams[0]!.body(100).catch(String)
  await client.send(numberFrame(RST_STREAM, 1, 8))
  expect(await failed).toMatch('cut short')
  expect([gone, streams[0]!.gone, client.connection.streams.size]).toEqual([1, true, 0])
})

describe('a client that violates the protocol', () => {
  const ping = (length: number): Buffer => frame(PING, 0, 0, Buffer.alloc(length))
  test.each<[string, Buffer[], number]>([
    ['no preface', [Buffer.from('GET / HTTP/1.1\r\n\r\n')], PROTOCOL_ERROR],
    ['no settings', [PREFACE, ping(8)], PROTOCOL_ERROR],
    ['a frame that is too large', [BEGIN, frame(DATA, 0, 1, Buffer.alloc(16_385))], FRAME_SIZE_ERROR],
    ['a ping of another length', [BEGIN, ping(7)], FRAME_SIZE_ERROR],
    ['data on a stream that was not opened', [BEGIN, frame(DATA, 0, 1)], PROTOCOL_ERROR],
    ['a stream of the server', [BEGIN, get(2)], PROTOCOL_ERROR],
    ['headers that are interrupted', [BEGIN, frame(HEADERS, 0, 1, BLOCK), ping(8)], PROTOCOL_ERROR],
    ['headers that are only continued', [BEGIN, frame(CONTINUATION, 0, 1)], PROTOCOL_ERROR],
    [
      'headers without end',
      [BEGIN, frame(HEADERS, 0, 1, BLOCK), ...Array.from({ length: 200 }, () => frame(CONTINUATION, 0, 1))],
      ENHANCE_YOUR_CALM,
    ],
    ['a window that is too large', [BEGIN, numberFrame(WINDOW_UPDATE, 0, MAX_WINDOW)], FLOW_CONTROL_ERROR],
    ['a window that does not grow', [BEGIN, numberFrame(WINDOW_UPDATE, 0, 0)], PROTOCOL_ERROR],
    ['a stream that depends on itself', [BEGIN, frame(PRIORITY, 0, 1, Buffer.from([0, 0, 0, 1, 0]))], PROTOCOL_ERROR],
    ['a stream that was used before', [BEGIN, get(3), get(1)], PROTOCOL_ERROR],
    [
      'headers of twice the limit',
      [BEGIN, frame(HEADERS, 0, 1, BLOCK), ...Array.from({ length: 9 }, () => frame(CONTINUATION, 0, 1, LARGE_PART))],
      ENHANCE_YOUR_CALM,
    ],
    ['settings without end', [BEGIN, ...Array.from({ length: 1_100 }, () => settingsFrame([]))], ENHANCE_YOUR_CALM],
    ['settings of a stream', [BEGIN, frame(SETTINGS, 0, 1)], PROTOCOL_ERROR],
  ])('%s ends the connection', async (_name, frames, code) => {
    const client = connect()
    await client.send(...frames)
    const last = client.frames().at(-1)!
    expect([last.type, last.payload.readUInt32BE(4)]).toEqual([GOAWAY, code])
    expect(client.state.closed).toBe(true)
  })

  test('more than the window of the connection ends it', async () => {
    const client = connect()
    await client.send(BEGIN)
    for (let i = 1; i <= 11; i += 2) {
      await client.send(frame(HEADERS, END_HEADERS, i, BLOCK))
      for (let part = 0; part < 16; part++) await client.send(frame(DATA, 0, i, Buffer.alloc(16_000)))
    }
    expect(client.frames().at(-1)!.payload.readUInt32BE(4)).toBe(FLOW_CONTROL_ERROR)
  })

  test('requests opened and given up without end end it', async () => {
    const client = connect()
    await client.send(BEGIN)
    for (let i = 1; i < 30_000 && !client.state.closed; i += 2_000) {
      const frames = Array.from({ length: 1000 }, (_, j) => i + 2 * j)
      await client.send(...frames.flatMap(id => [get(id), numberFrame(RST_STREAM, id, 8)]))
    }
    expect(client.frames().at(-1)!.payload.readUInt32BE(4)).toBe(ENHANCE_YOUR_CALM)
  })

  test('requests that the server has to reset without end end it', async () => {
    const client = connect()
    await client.send(BEGIN)
    for (let i = 1; i < 30_000 && !client.state.closed; i += 2_000) {
      const ids = Array.from({ length: 1000 }, (_, j) => i + 2 * j)
      await client.send(...ids.flatMap(id => [get(id), numberFrame(WINDOW_UPDATE, id, 0)]))
    }
    expect(client.frames().at(-1)!.payload.readUInt32BE(4)).toBe(ENHANCE_YOUR_CALM)
  })

  test.each<[string, Buffer[]]>([
    ['data beyond its declared length', [frame(DATA, END_STREAM, 1, Buffer.alloc(6))]],
    ['data short of it', [frame(DATA, 0, 1, Buffer.alloc(2)), frame(DATA, END_STREAM, 1, Buffer.alloc(2))]],
    ['trailers that do not end it', [frame(HEADERS, END_HEADERS, 1, literal('a', 'b'))]],
    ['trailers with a pseudo-header', [frame(HEADERS, END_HEADERS | END_STREAM, 1, BLOCK)]],
  ])('%s reset a request that is answered already', async (_name, frames) => {
    const client = connect(stream => stream.answer(200, {}, 'hello'))
    const head = Buffer.concat([BLOCK, literal('content-length', '5')])
    await client.send(BEGIN, frame(HEADERS, END_HEADERS, 1, head))
    await client.send(...frames, get(3))
    const reset = client.frames().find(({ type }) => type === RST_STREAM)!
    expect([reset.stream, reset.payload.readUInt32BE(0)]).toEqual([1, PROTOCOL_ERROR])
    expect(dataOf(client.frames(), 3).toString()).toBe('hello')
  })

  test('frames that were sent before the client knew of a reset are ignored', async () => {
    const client = connect(stream => (stream.id === 1 ? stream.cut() : stream.answer(200, {}, 'hello')))
    await client.send(BEGIN, frame(HEADERS, END_HEADERS, 1, BLOCK))
    const trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, literal('a', 'b'))
    await client.send(frame(DATA, 0, 1, Buffer.alloc(100)), trailers, get(3))
    expect(client.frames().filter(({ type }) => type === RST_STREAM)).toHaveLength(1)
    expect(dataOf(client.frames(), 3).toString()).toBe('hello')
  })

  test('headers that are too large are answered, and so is the next request', async () => {
    const client = connect(stream => stream.answer(200, {}, 'hello'))
    const fields = Array.from({ length: 5 }, () => literal('a', 'x'.repeat(15_000)))
    const [first, ...others] = fields.map((field, i) => (i === 0 ? Buffer.concat([BLOCK, field]) : field))
    await client.send(
      BEGIN,
      frame(HEADERS, END_STREAM, 1, first),
      ...others.map((field, i) => frame(CONTINUATION, i === 3 ? END_HEADERS : 0, 1, field)),
      get(3),
    )
    expect(dataOf(client.frames(), 1).toString()).toBe('too large')
    expect(dataOf(client.frames(), 3).toString()).toBe('hello')
  })

  test.each<[string, Buffer]>([
    ['two lengths', Buffer.concat([BLOCK, literal('content-length', '0'), literal('content-length', '1')])],
    ['a length that is none', Buffer.concat([BLOCK, literal('content-length', '0x0')])],
    ['an empty length', Buffer.concat([BLOCK, literal('content-length', '')])],
    ['a negative length', Buffer.concat([BLOCK, literal('content-length', '-1')])],
    ['an upper-case name', Buffer.from([...BLOCK, 0x00, 1, 0x41, 1, 0x61])],
    ['a field of the connection', Buffer.from([...BLOCK, 0x00, 7, ...Buffer.from('upgrade'), 1, 0x61])],
    ['no path', BLOCK.subarray(0, 2)],
    ['an empty method', Buffer.concat([literal(':method', ''), BLOCK.subarray(1)])],
    ['a path that is none', Buffer.concat([BLOCK.subarray(0, 2), literal(':path', 'a')])],
    ['another scheme', Buffer.concat([Buffer.from([0x82, 0x84]), literal(':scheme', 'ftp')])],
    ['two methods', Buffer.from([0x82, ...BLOCK])],
    ['a pseudo-header after another field', Buffer.from([0x82, 0x87, 0x00, 1, 0x61, 1, 0x61, 0x84])],
  ])('%s resets the request only', async (_name, block) => {
    const client = connect(stream => stream.answer(200, {}, 'hello'))
    await client.send(BEGIN, frame(HEADERS, END_HEADERS | END_STREAM, 1, block), get(3))
    const reset = client.frames().find(({ type }) => type === RST_STREAM)!
    expect([reset.stream, reset.payload.readUInt32BE(0)]).toEqual([1, PROTOCOL_ERROR])
    expect(dataOf(client.frames(), 3).toString()).toBe('hello')
  })
})
