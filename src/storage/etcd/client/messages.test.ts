import { describe, expect, test } from 'vitest'
import { FRAME_HEADER_BYTES } from './frames.js'
import { CompareTarget, EventType, RANGE, TXN, WATCH } from './messages.js'

const decodeWatch = (hex: string) => WATCH.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

describe('messages of etcd', () => {
  test('are framed with their length', () => {
    const frame = RANGE.encode({ key: Buffer.from('a'), limit: 5 })
    expect(frame.toString('hex')).toBe('00000000050a01611805')
  })

  test('of any size do not share bytes with other messages', () => {
    const put = (size: number, fill: string) =>
      TXN.encode({
        compare: [{ key: Buffer.from('k'), target: CompareTarget.modRevision, modRevision: 7 }],
        success: [{ put: { key: Buffer.from('k'), value: Buffer.alloc(size, fill) } }],
      })
    const frames = [put(10, 'a'), put(200_000, 'b'), put(10, 'c')]
    expect(frames.map(frame => frame.readUInt32BE(1) + FRAME_HEADER_BYTES)).toEqual(frames.map(frame => frame.length))
    expect(frames.map(frame => frame.at(-1)!)).toEqual([...Buffer.from('abc')])
  })

  test.each([
    ['00', 0],
    ['7f', 127],
    ['ffffff7f', 2 ** 28 - 1],
    ['8080808001', 2 ** 28],
    ['ffffffffffffff0f', 2 ** 53 - 1],
    ['ffffffffffffffffff01', -1],
  ])('have numbers of 64 bits: %s is %d', (varint, value) => {
    expect(decodeWatch(`10${varint}`).watchId).toBe(value)
  })

  test('decode absent fields as zero', () => {
    expect(decodeWatch('')).toMatchObject({ watchId: 0, created: false, compactRevision: 0, cancelReason: '' })
    expect(decodeWatch('').events).toHaveLength(0)
    const [event] = decodeWatch('5a 02 12 00').events
    expect(event).toMatchObject({ type: EventType.put, prevKv: null })
  })

  test('skip unknown fields', () => {
    expect(decodeWatch('f2 07 03 616263 10 05').watchId).toBe(5)
  })

  test.each(['10', '10ff', '5aff', '0a0510', '08'])('that are truncated or malformed are refused: %s', hex => {
    expect(() => decodeWatch(hex)).toThrow(RangeError)
  })
})
