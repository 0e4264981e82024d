// Verifies tokens of one issuer: algorithm, signature, issuer, audience and time. The discovery document is read at once and
// then every ten seconds until that succeeds, because an issuer may start later than this server.

import { startTurns } from '../../base/turns.js'
import { decodeJson } from '../../codec/json.js'
import { quote } from '../../meta/go/go-text.js'
import { stringAt } from '../../meta/values/access.js'
import { getOwn, isNumber, isObject, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { JWS_ALGORITHMS, type JwsAlgorithm, type ReadToken, readToken } from '../authn/json-web-token.js'
import { inStep, quotedBody } from './error-words.js'
import type { IssuerGet, IssuerResponse } from './issuer-requests.js'
import { type RemoteKey, type RemoteKeys, remoteKeys } from './remote-keys.js'

export interface VerifierOptions {
  readonly issuer: string
  readonly discoveryUrl?: string | undefined
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  readonly get: IssuerGet
  readonly now: () => number
  readonly signal: AbortSignal
  /** Called with the key set after each request for it, or without one if it could not be read. */
  readonly onFetch?: ((keySet: string | undefined) => void) | undefined
  readonly onError?: ((error: Error) => void) | undefined
}

export interface TokenVerifier {
  /** The claims of a token. Rejects with an Error that says what is wrong with it. */
  verify(token: string): Promise<ValueObject>
  /** Why tokens cannot be verified yet; undefined once they can. */
  initError(): Error | undefined
  /** Resolves after the first attempt to read the discovery document. */
  readonly attempted: Promise<void>
}

const RETRY_MS = 10_000
const WELL_KNOWN = '/.well-known/openid-configuration'
const NOT_BEFORE_LEEWAY_MS = 60_000

export function createTokenVerifier(options: VerifierOptions): TokenVerifier {
  const { issuer, discoveryUrl, get, now, signal, onFetch, onError } = options
  let keys: RemoteKeys | undefined
  let failure: Error | undefined = new Error(`oidc: authenticator for issuer ${quote(issuer)} is not initialized`)

  async function attempt(): Promise<void> {
    try {
      const url = await findKeysUrl(issuer, discoveryUrl, get)
      keys = remoteKeys(url, get, now, keySet => {
        if (!signal.aborted) onFetch?.(keySet)
      })
      failure = undefined
    } catch (error) {
      if (signal.aborted) return
      failure = error as Error
      onError?.(failure)
      const timer = setTimeout(() => void attempt(), RETRY_MS).unref()
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
    }
  }

  return {
    attempted: attempt(),
    initError: () => failure,
    async verify(token) {
      if (!keys) throw new Error('oidc: authenticator not initialized')
      return verifyWith(keys, token, options).catch(inStep('oidc: verify token: '))
    },
  }
}

async function findKeysUrl(issuer: string, discoveryUrl: string | undefined, get: IssuerGet): Promise<string> {
  const response = await get(discoveryUrl ?? issuer.replace(/\/$/, '') + WELL_KNOWN)
  const { status, statusText, body } = response
  if (status !== 200) throw new Error(`${status} ${statusText}: ${quotedBody(body)}`)
  const document = readDocument(response)
  const found = stringAt(document, 'issuer')
  if (found !== issuer) {
    throw new Error(
      `oidc: issuer did not match the issuer returned by provider, expected ${quote(issuer)} got ${quote(found)}`,
    )
  }
  const url = stringAt(document, 'jwks_uri')
  if (url === '') throw new Error('provider did not return JWKS URL')
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw new Error(`the JWKS URL ${quote(url)} is not https`)
  return url
}

function readDocument({ body, headers }: IssuerResponse): ValueObject {
  try {
    const { value } = decodeJson(body)
    if (isObject(value)) return value
  } catch {
    // Its media type is checked below.
  }
  const type = headers['content-type'] ?? ''
  const why = type.startsWith('application/json')
    ? 'got Content-Type = application/json, but could not unmarshal as JSON'
    : `expected Content-Type = application/json, got ${quote(type)}`
  throw new Error(`oidc: failed to decode provider discovery object: ${why}`)
}

async function verifyWith(keys: RemoteKeys, token: string, options: VerifierOptions): Promise<ValueObject> {
  const { algorithms, issuer, audiences, now } = options
  const read = readToken(token)
  if (!read) throw new Error('oidc: malformed jwt')
  const algorithm = JWS_ALGORITHMS.find(each => each === read.algorithm)
  if (algorithm === undefined || !algorithms.includes(algorithm)) {
    throw new Error(
      `oidc: id token signed with unsupported algorithm, expected ${printList(algorithms)} got ${quote(read.algorithm)}`,
    )
  }
  await checkSignature(keys, read, algorithm)
  const { claims } = read
  const found = stringAt(claims, 'iss')
  if (found !== issuer && !(issuer === GOOGLE && found === GOOGLE_WITHOUT_SCHEME)) {
    throw new Error(`oidc: id token issued by a different provider, expected ${quote(issuer)} got ${quote(found)}`)
  }
  checkAudience(audiences, audiencesOf(getOwn(claims, 'aud')))
  checkTimes(claims, now())
  return claims
}

const GOOGLE = 'https://accounts.google.com'
const GOOGLE_WITHOUT_SCHEME = 'accounts.google.com'

async function checkSignature(keys: RemoteKeys, token: ReadToken, algorithm: JwsAlgorithm): Promise<void> {
  // A token that names no key is tried with all of them, of which an issuer may have very many.
  const turns = startTurns()
  const isSignedByOne = async (list: readonly RemoteKey[]): Promise<boolean> => {
    for (const { id, publicKey } of list) {
      if (token.keyId !== undefined && token.keyId !== id) continue
      if (token.isSignedBy({ algorithm, publicKey })) return true
      if (turns.isDue()) await turns.give()
    }
    return false
  }
  if (await isSignedByOne(keys.known())) return
  const failed = 'failed to verify signature: '
  if (keys.isStale()) {
    const fresh = await keys.refresh().catch(inStep(`${failed}fetching keys `))
    if (await isSignedByOne(fresh)) return
  }
  throw new Error(`${failed}failed to verify id token signature`)
}

function audiencesOf(claim: Value | undefined): readonly string[] {
  if (typeof claim === 'string') return [claim]
  return Array.isArray(claim) ? claim.filter(each => typeof each === 'string') : []
}

function checkAudience(expected: readonly string[], given: readonly string[]): void {
  if (given.some(each => expected.includes(each))) return
  const wanted = expected.length === 1 ? quote(expected[0]!) : `in ${printList(expected.toSorted())}`
  throw new Error(`oidc: expected audience ${wanted} got ${printList(given)}`)
}

function checkTimes(claims: ValueObject, now: number): void {
  const expiry = secondsOf(claims, 'exp')
  if (expiry === undefined || expiry * 1000 < now) {
    const printed = expiry === undefined ? '0001-01-01 00:00:00' : printTime(expiry * 1000)
    throw new Error(`oidc: token is expired (Token Expiry: ${printed} +0000 UTC)`)
  }
  const notBefore = secondsOf(claims, 'nbf')
  if (notBefore !== undefined && now + NOT_BEFORE_LEEWAY_MS < notBefore * 1000) {
    throw new Error(
      `oidc: current time ${printTime(now)} +0000 UTC before the nbf (not before) time: ${printTime(notBefore * 1000)} +0000 UTC`,
    )
  }
}

function secondsOf(claims: ValueObject, name: string): number | undefined {
  const value = getOwn(claims, name)
  if (value === undefined || value === null) return undefined
  if (!isNumber(value)) throw new Error(`oidc: failed to unmarshal claims: ${name} is no number`)
  return Math.floor(value instanceof WholeFloat ? value.value : Number(value))
}

function printTime(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, 19).replace('T', ' ')
}

const printList = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`
