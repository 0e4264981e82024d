// A certificate and its key, of files of the user.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { UsageError } from '../../base/usage-error.js'
import type { KeyPair } from './x509.js'

export interface KeyPairFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** Throws a UsageError if the files are missing, or hold no certificate and its key. */
export function readKeyPair({ certFile, keyFile }: KeyPairFiles): KeyPair {
  const pair = { cert: readPem(certFile), key: readPem(keyFile) }
  const error = errorOfKeyPair(pair)
  if (error !== undefined) {
    throw new UsageError(`${certFile} and ${keyFile} are not a certificate and its key in PEM form: ${error}`)
  }
  return pair
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Why the two cannot serve TLS; undefined when they can. */
export function errorOfKeyPair({ cert, key }: KeyPair): string | undefined {
  try {
    // Without authorities, Node reads all those that it knows.
    createSecureContext({ cert, key, ca: [] })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
