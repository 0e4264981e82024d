// AES in the three ways of kube-apiserver: CBC with PKCS #7 padding, GCM, and GCM with a key that is derived for each value from
// a seed, so that random nonces do not repeat however many values are written.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { fresh, type Transformer } from './transformer.js'

const BLOCK_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** What a derived key is derived from, beside the seed. */
const INFO_BYTES = 32

const TOO_SHORT = 'the stored data was shorter than the required size'

export function aesCbc(key: Buffer): Transformer {
  const algorithm = `aes-${key.length * 8}-cbc`
  return {
    toStorage(data) {
      const iv = randomBytes(BLOCK_BYTES)
      const cipher = createCipheriv(algorithm, key, iv)
      return Buffer.concat([iv, cipher.update(data), cipher.final()])
    },
    fromStorage(data) {
      if (data.length < BLOCK_BYTES) throw new Error(TOO_SHORT)
      const [iv, encrypted] = [data.subarray(0, BLOCK_BYTES), data.subarray(BLOCK_BYTES)]
      if (encrypted.length % BLOCK_BYTES !== 0) {
        throw new Error('the stored data is not a multiple of the block size')
      }
      const decipher = createDecipheriv(algorithm, key, iv).setAutoPadding(false)
      return fresh(withoutPadding(Buffer.concat([decipher.update(encrypted), decipher.final()])))
    },
  }
}

function withoutPadding(padded: Buffer): Buffer {
  const count = padded.at(-1) ?? 0
  if (count === 0 || count > padded.length) throw new Error('invalid PKCS7 data (empty or not padded)')
  const size = padded.length - count
  if (padded.subarray(size).some(byte => byte !== count)) throw new Error('invalid padding on input')
  return padded.subarray(0, size)
}

export const aesGcm = (key: Buffer): Transformer => ({
  toStorage: (data, { authenticated }) => seal(key, data, authenticated),
  fromStorage: (data, { authenticated }) => fresh(open(key, data, authenticated)),
})

/** The values begin with what their keys were derived from. */
export function aesGcmOfSeed(seed: Buffer): Transformer {
  if (seed.length < INFO_BYTES) throw new Error(`invalid seed length ${seed.length} used for key generation`)
  // The first block of HKDF-Expand, which is as long as the key.
  const keyOf = (info: Buffer): Buffer => createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest()
  return {
    toStorage(data, { authenticated }) {
      const info = randomBytes(INFO_BYTES)
      return Buffer.concat([info, seal(keyOf(info), data, authenticated)])
    },
    fromStorage(data, { authenticated }) {
      if (data.length < INFO_BYTES) throw new Error(TOO_SHORT)
      return fresh(open(keyOf(data.subarray(0, INFO_BYTES)), data.subarray(INFO_BYTES), authenticated))
    },
  }
}

const gcmOf = (key: Buffer) => `aes-${key.length * 8}-gcm` as 'aes-256-gcm'

function seal(key: Buffer, data: Buffer, authenticated: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(gcmOf(key), key, nonce).setAAD(authenticated)
  return Buffer.concat([nonce, cipher.update(data), cipher.final(), cipher.getAuthTag()])
}

function open(key: Buffer, data: Buffer, authenticated: Buffer): Buffer {
  if (data.length < NONCE_BYTES) throw new Error(TOO_SHORT)
  const refused = new Error('cipher: message authentication failed')
  if (data.length < NONCE_BYTES + TAG_BYTES) throw refused
  const decipher = createDecipheriv(gcmOf(key), key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(authenticated).setAuthTag(data.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    throw refused
  }
}
