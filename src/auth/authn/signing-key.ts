// The keys by which tokens of service accounts are signed and verified. Without flags, the signing key is kept in the
// store: every process on the same store then accepts the tokens of the others, and tokens outlive a restart as objects do.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import type { Store } from '../../storage/store.js'
import { checkInClear } from '../../storage/untransformable.js'

export type TokenAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512'

/** A key by which tokens are verified and, with its private part, signed. */
export interface TokenKey {
  /** The `kid` of its tokens: the hash of the public key, as kube-apiserver computes it. */
  readonly id: string
  readonly algorithm: TokenAlgorithm
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject | undefined
}

export interface SigningKey extends TokenKey {
  readonly privateKey: KeyObject
}

/** Outside the prefixes of all kinds. */
const STORE_KEY = '/binnacle/service-account-signing-key'

export async function loadSigningKey(store: Store): Promise<SigningKey> {
  for (;;) {
    const stored = await store.get(STORE_KEY)
    if (stored) checkInClear(STORE_KEY, stored.value)
    if (stored) return signingKey(createPrivateKey(stored.value))
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    // If another process was faster, the loop reads its key.
    await store.create(STORE_KEY, Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })))
  }
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g

/** The keys of a file in PEM form: private keys, public keys and certificates. Throws when one cannot be used. */
export function parseKeys(pem: string): TokenKey[] {
  return [...pem.matchAll(BLOCK)].flatMap(([block, label = '']) => {
    if (label.endsWith('PRIVATE KEY')) return signingKey(createPrivateKey(block))
    if (label === 'CERTIFICATE') return tokenKey(new X509Certificate(block).publicKey)
    // Other blocks, such as EC PARAMETERS, describe a key that follows.
    return label.endsWith('PUBLIC KEY') ? tokenKey(createPublicKey(block)) : []
  })
}

const signingKey = (privateKey: KeyObject): SigningKey => ({ ...tokenKey(createPublicKey(privateKey)), privateKey })

function tokenKey(publicKey: KeyObject): TokenKey {
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, algorithm: algorithmOf(publicKey), publicKey, privateKey: undefined }
}

const CURVES: Readonly<Record<string, TokenAlgorithm>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): TokenAlgorithm {
  if (asymmetricKeyType === 'rsa') return 'RS256'
  const algorithm = CURVES[asymmetricKeyDetails?.namedCurve ?? '']
  if (!algorithm) throw new Error(`a key must be RSA or ECDSA with the curve P-256, P-384 or P-521`)
  return algorithm
}
