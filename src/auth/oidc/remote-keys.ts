// The public keys of an issuer, read from the URL that its discovery document names. They are read again when a token is
// signed by none of them and they are no longer fresh: that is how an issuer changes its keys.

import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { eachInTurns, startTurns } from '../../base/turns.js'
import { decodeJson } from '../../codec/json.js'
import { objectsAt, stringAt } from '../../meta/values/access.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import { inStep, messageOf, quotedBody } from './error-words.js'
import type { IssuerGet, IssuerResponse } from './issuer-requests.js'

export interface RemoteKey {
  readonly id: string
  readonly publicKey: KeyObject
}

export interface RemoteKeys {
  /** The keys that are known. */
  known(): readonly RemoteKey[]
  /** Whether the known keys may be out of date. */
  isStale(): boolean
  /** Reads them again. Callers at the same time share one request. */
  refresh(): Promise<readonly RemoteKey[]>
}

/** Keys are read again this long before they expire. */
const EXPIRY_DELTA_MS = 30_000

/** `onFetch` is called with the key set, or without one if it could not be read. */
export function remoteKeys(
  url: string,
  get: IssuerGet,
  now: () => number,
  onFetch: (keySet: string | undefined) => void,
): RemoteKeys {
  let keys: readonly RemoteKey[] = []
  let freshUntil = Number.NEGATIVE_INFINITY
  let running: Promise<readonly RemoteKey[]> | undefined

  async function fetchKeys(): Promise<readonly RemoteKey[]> {
    let body: string | undefined
    try {
      const response = await get(url).catch(inStep(`oidc: get keys failed `))
      if (response.status !== 200) {
        const { status, statusText } = response
        throw new Error(`oidc: get keys failed: ${status} ${statusText} ${quotedBody(response.body)}`)
      }
      const read = await readKeys(response)
      body = response.body.toString()
      keys = read
      freshUntil = now() + maxAgeMs(response)
      return read
    } finally {
      running = undefined
      onFetch(body)
    }
  }

  return {
    known: () => keys,
    isStale: () => now() + EXPIRY_DELTA_MS > freshUntil,
    refresh: () => (running ??= fetchKeys()),
  }
}

async function readKeys({ body }: IssuerResponse): Promise<RemoteKey[]> {
  let value: unknown
  try {
    value = decodeJson(body).value
  } catch (error) {
    throw new Error(`oidc: failed to decode keys: ${messageOf(error)} ${quotedBody(body)}`, { cause: error })
  }
  if (!isObject(value as ValueObject))
    throw new Error(`oidc: failed to decode keys: it is no object ${quotedBody(body)}`)
  const keys: RemoteKey[] = []
  await eachInTurns(
    objectsAt(value as ValueObject, 'keys'),
    key => {
      const publicKey = publicKeyOf(key)
      if (publicKey) keys.push({ id: stringAt(key, 'kid'), publicKey })
    },
    startTurns(),
  )
  return keys
}

/** Undefined for a key of a type that is not known here, which belongs to tokens that are not accepted anyway. */
function publicKeyOf(key: ValueObject): KeyObject | undefined {
  try {
    return createPublicKey({ key: key as unknown as JsonWebKey, format: 'jwk' })
  } catch {
    return undefined
  }
}

/** How long the response may be kept. One that does not say so expires at once. */
export function maxAgeMs({ headers }: Pick<IssuerResponse, 'headers'>): number {
  const control = (headers['cache-control'] ?? '').toLowerCase()
  if (/\bno-(store|cache)\b/.test(control)) return 0
  const maxAge = /\bmax-age="?([0-9]+)/.exec(control)?.[1]
  if (maxAge !== undefined) return Math.max(0, Number(maxAge) - Number(headers.age ?? 0)) * 1000
  const expires = Date.parse(headers.expires ?? '')
  const date = Date.parse(headers.date ?? '')
  return Number.isNaN(expires) || Number.isNaN(date) ? 0 : Math.max(0, expires - date)
}
