// The identity of this server in metrics, as kube-apiserver derives it from the name of the machine.
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { once } from '../../base/memo.js'

export const serverIdentity = once((): string => {
  const parts = [hostname(), 'kube-apiserver'].flatMap(text => {
    const bytes = Buffer.from(text)
    return [Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]
  })
  const hash = createHash('sha256').update(Buffer.concat(parts)).digest().subarray(0, 16)
  return `apiserver-${base32(hash)}`
})

const DIGITS = 'abcdefghijklmnopqrstuvwxyz234567'

/** In lower case and without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += DIGITS[(value >>> (bits - 5)) & 31]
    value &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + DIGITS[(value << (5 - bits)) & 31]
}

/** A label that tells texts apart without showing them. */
export const hashLabel = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`
