// Whether a certificate and a key belong together.
import { createSecureContext } from 'node:tls'
import type { KeyPair } from './x509.js'

/** Why the two cannot serve TLS; undefined when they can. */
export function errorOfKeyPair({ cert, key }: KeyPair): string | undefined {
  try {
    createSecureContext({ cert, key })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
