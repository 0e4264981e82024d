// Frames of HTTP/2: the beginning of a connection as a client sends it, then frames that may be valid or not.
import type { Random } from '../storage/history/random.js'

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream >>> 0, 5)
  return Buffer.concat([head, payload])
}

const SETTINGS = 4
export const settings = (): Buffer => frame(SETTINGS, 0, 0, Buffer.alloc(0))

/** A request without dynamic table or Huffman coding: `:method`, `:scheme`, `:path`, `:authority`, then others. */
export function headerBlock(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), literal(name), literal(value)])))
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const rest: number[] = []
  let left = bytes.length - 127
  for (; left >= 128; left >>>= 7) rest.push((left & 127) | 128)
  return Buffer.concat([Buffer.from([127, ...rest, left]), bytes])
}

/** The bytes of one connection: the preface and some frames, in which lengths, flags and streams may be wrong. */
export function connectionBytes(random: Random, headers: readonly (readonly [string, string])[]): Buffer {
  const parts: Buffer[] = random.chance(0.9) ? [PREFACE] : []
  if (random.chance(0.9)) parts.push(settings())
  for (let i = 0, stream = 1; i < 1 + random.number(12); i++) {
    parts.push(someFrame(random, random.chance(0.8) ? stream : random.number(2 ** 31), headers))
    if (random.chance(0.5)) stream += 2
  }
  const bytes = Buffer.concat(parts)
  return random.chance(0.2) ? bytes.subarray(0, random.number(bytes.length + 1)) : bytes
}

function someFrame(random: Random, stream: number, headers: readonly (readonly [string, string])[]): Buffer {
  switch (random.number(6)) {
    case 0:
    case 1:
      return frame(1, random.oneOf([4, 5, 0, 0x2c]), stream, headerBlock(headers))
    case 2:
      return frame(0, random.oneOf([0, 1, 8]), stream, noise(random, 2_000))
    case 3:
      // SETTINGS, WINDOW_UPDATE, PING, RST_STREAM or PRIORITY with a payload of a likely length
      return frame(random.oneOf([4, 8, 6, 3, 2]), random.number(2), random.chance(0.5) ? 0 : stream, noise(random, 12))
    case 4:
      return frame(9, random.oneOf([0, 4]), stream, headerBlock(headers.slice(0, 2)))
    default:
      return frame(random.number(256), random.number(256), stream, noise(random, 300))
  }
}

const noise = (random: Random, below: number): Buffer =>
  Buffer.from(Array.from({ length: random.number(below) }, () => random.number(256)))
