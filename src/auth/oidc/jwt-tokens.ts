// Bearer tokens that other issuers have signed: OpenID Connect.

import { createHash } from 'node:crypto'
import type { Dials } from '../../base/dial.js'
import { createExpiringCache } from '../../base/expiring-cache.js'
import type { TokenAuthenticator, TokenCheck } from '../authn/authenticate.js'
import type { JwtIssuer } from './check-issuers.js'
import { distributedClaims, issuerOf } from './distributed-claims.js'
import { inStep, messageOf } from './error-words.js'
import { issuerGet } from './issuer-requests.js'
import { createTokenVerifier, type TokenVerifier } from './token-verifier.js'
import { userOfClaims } from './user-of-claims.js'

export interface JwtTokenOptions {
  readonly issuers: readonly JwtIssuer[]
  /** By which tokens may be signed. */
  readonly algorithms: readonly string[]
  /** The audiences of this server: a token of another issuer is meant for all of them. */
  readonly ownAudiences: readonly string[]
  readonly now: () => number
  /** The ways to issuers that name one. */
  readonly egress?: Dials | undefined
  readonly observer?: JwtObserver | undefined
}

/** What metrics and the log need to know. */
export interface JwtObserver {
  checked?(issuer: string, ok: boolean, seconds: number): void
  /** With the key set, or without one if it could not be read. */
  keysFetched?(issuer: string, keySet: string | undefined): void
  initFailed?(issuer: string, error: Error): void
}

export interface JwtTokens {
  readonly authenticate: TokenAuthenticator
  /** Why an issuer's tokens cannot be verified yet; undefined if all can. */
  healthError(): string | undefined
  /** Resolves after each issuer's discovery document was requested once. */
  readonly attempted: Promise<unknown>
  stop(): void
}

/** A token that was accepted is accepted again for this long without another look. */
const REMEMBERED_MS = 10_000
const MAX_REMEMBERED = 4_096

export function jwtTokens(options: JwtTokenOptions): JwtTokens {
  const { issuers, ownAudiences, now, observer = {} } = options
  const stopping = new AbortController()
  const parts = issuers.map(issuer => openIssuer(issuer, options, stopping.signal))
  const accepted = createExpiringCache<TokenCheck>(MAX_REMEMBERED, now)

  async function check(token: string, audiences: readonly string[]): Promise<TokenCheck | undefined> {
    const found = issuerOf(token)
    const part = parts.find(({ issuer }) => issuer.url === found)
    if (!part) return undefined
    const began = performance.now()
    const result = await part.check(token)
    observer.checked?.(part.issuer.url, result.ok, (performance.now() - began) / 1000)
    return result.ok ? { ...result, audiences } : result
  }

  return {
    async authenticate(token, wanted) {
      const audiences = ownAudiences.filter(each => wanted.includes(each))
      if (parts.length === 0 || audiences.length === 0) return undefined
      // Tokens are not kept, only hashes of them.
      const key = createHash('sha256')
        .update(JSON.stringify([audiences, token]))
        .digest('base64')
      const known = accepted.get(key)
      if (known) return known
      const result = await check(token, audiences)
      if (result?.ok) accepted.put(key, result, REMEMBERED_MS)
      return result
    },
    healthError: () =>
      parts
        .flatMap(({ issuer, verifier }) => {
          const error = verifier.initError()
          return error
            ? [`oidc: authenticator for issuer ${JSON.stringify(issuer.url)} is not healthy: ${error.message}`]
            : []
        })
        .join(', ') || undefined,
    attempted: Promise.all(parts.map(({ verifier }) => verifier.attempted)),
    stop: () => stopping.abort(),
  }
}

function openIssuer(
  issuer: JwtIssuer,
  { algorithms, now, egress = {}, observer = {} }: JwtTokenOptions,
  signal: AbortSignal,
) {
  const dials = { cluster: egress.cluster, controlplane: egress.controlPlane }
  const dial = dials[issuer.egressSelectorType as keyof typeof dials]
  const get = issuerGet({ ca: issuer.certificateAuthority, dial, signal })
  const { url, discoveryUrl, audiences, groups } = issuer
  const createVerifier = (of: string, observed: boolean): TokenVerifier =>
    createTokenVerifier({
      issuer: of,
      discoveryUrl: of === url ? discoveryUrl : undefined,
      audiences,
      algorithms,
      get,
      now,
      signal,
      onFetch: observed ? keySet => observer.keysFetched?.(of, keySet) : undefined,
      onError: error => observer.initFailed?.(of, error),
    })
  const verifier = createVerifier(url, true)
  const expand =
    groups?.claim === undefined ? undefined : distributedClaims(groups.claim, get, of => createVerifier(of, false))

  async function check(token: string): Promise<TokenCheck> {
    try {
      const verified = await verifier.verify(token)
      const claims = expand
        ? await expand(verified).catch(inStep(`oidc: could not expand distributed claims: `))
        : verified
      return { ok: true, identity: userOfClaims(issuer, claims), audiences: [] }
    } catch (error) {
      return { ok: false, error: messageOf(error) }
    }
  }

  return { issuer, verifier, check }
}
