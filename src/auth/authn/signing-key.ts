// The key by which tokens of service accounts are signed. It lies in the store, beside what it gives access to, so that
// every process on the same store knows the tokens of the others, and they outlive a restart as the store does.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Store } from '../../storage/store.js'

export interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Outside the folders of all kinds. */
const PLACE = '/binnacle/service-account-signing-key'

export async function loadSigningKey(store: Store): Promise<SigningKey> {
  for (;;) {
    const stored = await store.get(PLACE)
    if (stored) return fromPem(stored.value)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    // Another process may be faster; then its key counts.
    await store.create(PLACE, Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })))
  }
}

function fromPem(pem: Buffer): SigningKey {
  const privateKey = createPrivateKey(pem)
  const publicKey = createPublicKey(privateKey)
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, privateKey, publicKey }
}
