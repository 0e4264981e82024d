import { expect, test } from 'vitest'
import { createFrameReader } from './websocket.js'

const MASK = Buffer.of(1, 2, 3, 4)
/** The head of a frame of a client. */
function headOf(first: number, length: number | bigint): Buffer {
  if (length < 126) return Buffer.concat([Buffer.of(first, 0x80 | Number(length)), MASK])
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 0xff
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, MASK])
}
const PING = Buffer.concat([headOf(0x89, 2), Buffer.of('h'.charCodeAt(0) ^ 1, 'i'.charCodeAt(0) ^ 2)])

/** What is read of these chunks: the control frames, and whether the client is cut off. */
function read(chunks: Iterable<Buffer>): { readonly frames: readonly string[]; readonly isFailed: boolean } {
  const frames: string[] = []
  let isFailed = false
  const push = createFrameReader(
    (opcode, payload) => frames.push(`${opcode} ${payload.toString()}`),
    () => (isFailed = true),
  )
  for (const chunk of chunks) push(chunk)
  return { frames, isFailed }
}

test('frames are read however their bytes are cut', () => {
  const bytes = Buffer.concat([headOf(0x82, 3), Buffer.from('abc'), PING, headOf(0x80, 200), Buffer.alloc(200), PING])
  const each = Array.from(bytes, byte => Buffer.of(byte))
  expect(read([bytes])).toEqual({ frames: ['9 hi', '9 hi'], isFailed: false })
  expect(read(each)).toEqual({ frames: ['9 hi', '9 hi'], isFailed: false })
})

test('very many fragments, with control frames between them, are skipped', () => {
  const fragments = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.concat([headOf(0x01, 1), Buffer.of(0)])))
  expect(read([fragments, PING, fragments, PING]).frames).toEqual(['9 hi', '9 hi'])
})

test('a frame of any length is skipped as it arrives', () => {
  const part = Buffer.alloc(64 * 1024)
  const before = process.memoryUsage().arrayBuffers
  const { frames, isFailed } = read([headOf(0x82, 2n ** 63n), ...Array.from({ length: 2_000 }, () => part)])
  expect([frames, isFailed]).toEqual([[], false])
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 2 ** 20)
})

test.each([
  ['a long control frame', headOf(0x89, 126)],
  ['a control frame that announces very much', headOf(0x88, 2n ** 63n)],
  ['a frame without a mask', Buffer.of(0x89, 0)],
  ['a data frame without a mask', Buffer.of(0x81, 1, 0)],
])('a client is cut off after %s', (_, bytes) => {
  expect(read([bytes])).toEqual({ frames: [], isFailed: true })
})
