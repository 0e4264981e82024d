// Poly1305, a tag of a message under a key that is used once: a polynomial modulo 2^130 - 5, in ten limbs of 13 bits, whose
// products and sums are exact as numbers.

const LIMBS = 10
const LIMB_BITS = 13
const LIMB_MASK = 0x1fff
const BLOCK_BYTES = 16
const CLAMP = [0xff, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f]

/** `key`: 32 bytes, of which the first half is the factor and the second half is added at the end. */
export function poly1305(key: Uint8Array, message: Uint8Array): Buffer {
  const factor = limbsOf(
    CLAMP.map((mask, i) => key[i]! & mask),
    0,
  )
  let sum: number[] = Array.from({ length: LIMBS }, () => 0)
  for (let at = 0; at < message.length; at += BLOCK_BYTES) {
    const length = Math.min(BLOCK_BYTES, message.length - at)
    const block: number[] = Array.from({ length: BLOCK_BYTES }, () => 0)
    for (let i = 0; i < length; i++) block[i] = message[at + i]!
    if (length < BLOCK_BYTES) block[length] = 1
    const added = limbsOf(block, length === BLOCK_BYTES ? 1 : 0)
    for (let i = 0; i < LIMBS; i++) sum[i]! += added[i]!
    sum = product(sum, factor)
  }
  return tagOf(reduced(sum), key.subarray(BLOCK_BYTES))
}

/** A number of 16 bytes, the lowest first, and the bit above them. */
function limbsOf(bytes: readonly number[], above: number): number[] {
  const limbs: number[] = []
  let value = 0
  let bits = 0
  for (const byte of [...bytes, above]) {
    value += byte * 2 ** bits
    bits += 8
    if (bits < LIMB_BITS || limbs.length === LIMBS - 1) continue
    limbs.push(value & LIMB_MASK)
    value >>>= LIMB_BITS
    bits -= LIMB_BITS
  }
  limbs.push(value)
  return limbs
}

/** A limb beyond the tenth counts five times at the beginning, since 2^130 is 5 modulo the prime. */
function product(a: readonly number[], b: readonly number[]): number[] {
  const limbs: number[] = []
  let carry = 0
  for (let i = 0; i < LIMBS; i++) {
    let total = carry
    for (let j = 0; j < LIMBS; j++) total += a[j]! * (j <= i ? b[i - j]! : 5 * b[i + LIMBS - j]!)
    carry = Math.floor(total / 2 ** LIMB_BITS)
    limbs.push(total % 2 ** LIMB_BITS)
  }
  limbs[0]! += 5 * carry
  limbs[1]! += Math.floor(limbs[0]! / 2 ** LIMB_BITS)
  limbs[0]! %= 2 ** LIMB_BITS
  return limbs
}

/** The remainder modulo the prime, with all limbs in their bounds. */
function reduced(sum: readonly number[]): number[] {
  const carried = (limbs: readonly number[]): number[] => {
    const next = [...limbs]
    let carry = 0
    for (let i = 0; i < LIMBS; i++) {
      const total = next[i]! + carry
      next[i] = total & LIMB_MASK
      carry = Math.floor(total / 2 ** LIMB_BITS)
    }
    next[0]! += 5 * carry
    return next
  }
  const whole = carried(carried(carried(sum)))
  // whole - prime = whole + 5 - 2^130: not below zero exactly if the addition carries beyond the last limb.
  const less: number[] = []
  let carry = 5
  for (let i = 0; i < LIMBS; i++) {
    const total = whole[i]! + carry
    less.push(total & LIMB_MASK)
    carry = total >>> LIMB_BITS
  }
  const mask = -carry
  return whole.map((limb, i) => (limb & ~mask) | (less[i]! & mask))
}

function tagOf(limbs: readonly number[], added: Uint8Array): Buffer {
  const tag = Buffer.alloc(BLOCK_BYTES)
  let value = 0
  let bits = 0
  let next = 0
  let carry = 0
  for (let i = 0; i < BLOCK_BYTES; i++) {
    while (bits < 8 && next < LIMBS) {
      value += limbs[next++]! * 2 ** bits
      bits += LIMB_BITS
    }
    const total = (value & 0xff) + added[i]! + carry
    tag[i] = total & 0xff
    carry = total >>> 8
    value >>>= 8
    bits -= 8
  }
  return tag
}
