import { array, assert, integer, property, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFrameReader, FRAME_HEADER_BYTES, FrameError, onlyMessage } from './frames.js'

function frame(message: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  header.writeUInt32BE(message.length, 1)
  return Buffer.concat([header, message])
}

describe('a frame reader', () => {
  test('finds the messages in any division into chunks', () => {
    const messages = array(uint8Array({ maxLength: 40 }), { maxLength: 8 })
    assert(
      property(messages, array(integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, sizes) => {
        const bytes = Buffer.concat(sent.map(frame))
        const seen: Buffer[] = []
        const reader = createFrameReader(message => seen.push(message))
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length]!
          reader.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(seen.map(message => message.toString('hex'))).toEqual(sent.map(m => Buffer.from(m).toString('hex')))
        expect(reader.empty).toBe(true)
      }),
    )
  })

  test('reports an incomplete message', () => {
    const reader = createFrameReader(() => expect.unreachable())
    reader.push(frame(Buffer.from('abc')).subarray(0, 6))
    expect(reader.empty).toBe(false)
  })

  test('refuses a message over the limit before it has arrived', () => {
    const reader = createFrameReader(() => {}, 100)
    expect(() => reader.push(Buffer.from([0, 0, 0, 0, 101]))).toThrow(FrameError)
  })

  test('refuses compressed messages', () => {
    expect(() => createFrameReader(() => {}).push(Buffer.from([1, 0, 0, 0, 0]))).toThrow(/compressed/)
  })
})

describe('the only message of an answer', () => {
  test('may come in several chunks', () => {
    const bytes = frame(Buffer.from('hello'))
    expect(onlyMessage([bytes.subarray(0, 3), bytes.subarray(3)]).toString()).toBe('hello')
  })

  test.each([
    ['nothing', []],
    ['half a header', [Buffer.from([0, 0])]],
    ['half a message', [frame(Buffer.from('hello')).subarray(0, 8)]],
    ['two messages', [frame(Buffer.from('a')), frame(Buffer.from('b'))]],
  ])('is not %s', (_, chunks) => {
    expect(() => onlyMessage(chunks)).toThrow(FrameError)
  })
})
