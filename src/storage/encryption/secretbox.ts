// XSalsa20 and Poly1305 as NaCl's secretbox, which Node's crypto does not have. A value is a nonce of 24 bytes, the tag of 16
// bytes, and the ciphertext.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { poly1305 } from './poly1305.js'
import { fresh, type Transformer } from './transformer.js'

const NONCE_BYTES = 24
const TAG_BYTES = 16
/** The first bytes of the key stream are the key of Poly1305. */
const MAC_KEY_BYTES = 32

export const secretbox = (key: Buffer): Transformer => ({
  toStorage(data) {
    const nonce = randomBytes(NONCE_BYTES)
    return Buffer.concat([nonce, sealBox(key, nonce, data)])
  },
  fromStorage(data) {
    if (data.length < NONCE_BYTES + TAG_BYTES) throw new Error('the stored data was shorter than the required size')
    const opened = openBox(key, data.subarray(0, NONCE_BYTES), data.subarray(NONCE_BYTES))
    // kube-apiserver's words for a wrong key or damaged data.
    if (!opened) throw new Error('output array was not large enough for encryption')
    return fresh(opened)
  },
})

export function sealBox(key: Buffer, nonce: Buffer, data: Buffer): Buffer {
  const stream = xsalsa20(key, nonce, MAC_KEY_BYTES + data.length)
  const sealed = Buffer.allocUnsafe(TAG_BYTES + data.length)
  for (let i = 0; i < data.length; i++) sealed[TAG_BYTES + i] = data[i]! ^ stream[MAC_KEY_BYTES + i]!
  poly1305(stream.subarray(0, MAC_KEY_BYTES), sealed.subarray(TAG_BYTES)).copy(sealed)
  return sealed
}

/** Undefined if the key is another one or the box was changed. */
export function openBox(key: Buffer, nonce: Buffer, box: Buffer): Buffer | undefined {
  const [tag, encrypted] = [box.subarray(0, TAG_BYTES), box.subarray(TAG_BYTES)]
  const stream = xsalsa20(key, nonce, MAC_KEY_BYTES + encrypted.length)
  if (!timingSafeEqual(poly1305(stream.subarray(0, MAC_KEY_BYTES), encrypted), tag)) return undefined
  const data = Buffer.allocUnsafe(encrypted.length)
  for (let i = 0; i < data.length; i++) data[i] = encrypted[i]! ^ stream[MAC_KEY_BYTES + i]!
  return data
}

// ---- XSalsa20

/** `expand 32-byte k` */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const
const BLOCK_BYTES = 64
const BLOCK_WORDS = 16

/** The key stream: Salsa20 with a key that is derived from the key and the first 16 bytes of the nonce. */
function xsalsa20(key: Buffer, nonce: Buffer, bytes: number): Buffer {
  const state = stateOf(wordsOf(key), wordsOf(nonce.subarray(0, 16)))
  const mixed = rounds(state)
  const subkey = [0, 5, 10, 15, 6, 7, 8, 9].map(i => mixed[i]!)
  const stream = Buffer.alloc(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES)
  const [n0, n1] = wordsOf(nonce.subarray(16))
  for (let at = 0, counter = 0; at < bytes; at += BLOCK_BYTES, counter++) {
    const block = stateOf(subkey, [n0!, n1!, counter >>> 0, Math.floor(counter / 2 ** 32)])
    const out = rounds(block)
    for (let i = 0; i < BLOCK_WORDS; i++) stream.writeUInt32LE((out[i]! + block[i]!) >>> 0, at + 4 * i)
  }
  return stream.subarray(0, bytes)
}

const wordsOf = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(4 * i))

function stateOf(key: readonly number[], input: readonly number[]): Uint32Array {
  const [k0, k1, k2, k3, k4, k5, k6, k7] = key as readonly [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [i0, i1, i2, i3] = input as readonly [number, number, number, number]
  const [s0, s1, s2, s3] = SIGMA
  return Uint32Array.of(s0, k0, k1, k2, k3, s1, i0, i1, i2, i3, s2, k4, k5, k6, k7, s3)
}

/** The words that each quarter of a double round mixes: columns, then rows. */
const COLUMNS = [0, 4, 8, 12, 5, 9, 13, 1, 10, 14, 2, 6, 15, 3, 7, 11]
const ROWS = [0, 1, 2, 3, 5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14]
const QUARTERS = [...COLUMNS, ...ROWS]

/** Twenty rounds, without the addition of the input. */
function rounds(input: Uint32Array): Uint32Array {
  const x = input.slice()
  for (let round = 0; round < 10; round++) {
    for (let q = 0; q < QUARTERS.length; q += 4) {
      const [a, b, c, d] = [QUARTERS[q]!, QUARTERS[q + 1]!, QUARTERS[q + 2]!, QUARTERS[q + 3]!]
      x[b]! ^= rotated(x[a]! + x[d]!, 7)
      x[c]! ^= rotated(x[b]! + x[a]!, 9)
      x[d]! ^= rotated(x[c]! + x[b]!, 13)
      x[a]! ^= rotated(x[d]! + x[c]!, 18)
    }
  }
  return x
}

const rotated = (word: number, by: number): number => (word << by) | ((word >>> 0) >>> (32 - by))
