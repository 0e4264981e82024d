// Authentication: the user of a request, by its client certificate or its bearer token; otherwise system:anonymous.

import { createHash } from 'node:crypto'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { keptBy } from '../../base/memo.js'
import type { Request } from '../../request/request.js'
import { type UserInfo } from '../../request/user-info.js'
import { AUTHENTICATED, UNAUTHENTICATED } from './system-groups.js'

/** The credentials that a request may carry. */
export interface Credentials {
  readonly authorization: string | undefined
  readonly certificate: ClientCertificate | undefined
}

export interface ClientCertificate {
  readonly subject: Readonly<Record<string, string | string[]>>
  /** False if no authority for clients has signed it, or if it has expired. */
  readonly isValid: boolean
  /** The certificate in DER. */
  readonly raw: Uint8Array
}

/** Takes the warnings and the audit annotations of credentials. */
export type Notes = Pick<Request, 'warn' | 'annotate'>

/** Returns the user, `undefined` if the request has no credentials of this type, or `false` if they are invalid. */
export type Authenticator = (credentials: Credentials, notes?: Notes) => Awaitable<Identity | false | undefined>

export type Identity = UserInfo

const ANONYMOUS: Identity = { name: 'system:anonymous', uid: '', groups: [UNAUTHENTICATED], extra: {} }

/**
 * Asks each authenticator in turn; the first user is taken. A request whose credentials are all invalid is not treated as
 * anonymous. Returns undefined for such a request, and for one without credentials if anonymous requests are off.
 */
export function authenticate(
  credentials: Credentials,
  authenticators: readonly Authenticator[],
  allowAnonymous: boolean,
  notes?: Notes,
): Awaitable<UserInfo | undefined> {
  const askFrom = (at: number, isRefused: boolean): Awaitable<UserInfo | undefined> => {
    const authenticator = authenticators[at]
    if (!authenticator) return isRefused || !allowAnonymous ? undefined : ANONYMOUS
    return andThen(authenticator(credentials, notes), identity =>
      identity ? withAuthenticated(identity) : askFrom(at + 1, isRefused || identity === false),
    )
  }
  return askFrom(0, false)
}

/** Credentials may name the anonymous user, or the group of those who are not authenticated; such a user gets no group. */
export function withAuthenticated(identity: Identity): Identity {
  const { name, groups } = identity
  if (name === ANONYMOUS.name || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return identity
  return { ...identity, groups: [...groups, AUTHENTICATED] }
}

/**
 * Where certificates may also be those of a proxy that names users, one that is for neither purpose is refused. Elsewhere one
 * that names no user is ignored.
 */
export const orRefused =
  (byClient: Authenticator): Authenticator =>
  credentials =>
    andThen(byClient(credentials), found => found ?? (credentials.certificate ? false : undefined))

/**
 * The common name is the user, the organizations are the groups, and an attribute of Kubernetes' own is the uid. A certificate
 * without a common name is ignored, and one with several uids or an empty one is refused.
 */
export const byCertificate: Authenticator = credentials => ofCertificate(credentials, true)

/** The same without the uid. */
export const byCertificateWithoutUid: Authenticator = credentials => ofCertificate(credentials, false)

function ofCertificate({ certificate }: Credentials, hasUid: boolean): Identity | false | undefined {
  if (!certificate) return undefined
  const { subject, isValid, raw } = certificate
  if (!isValid) return false
  const name = commonNameOf(subject)
  if (name === '') return undefined
  const uids = hasUid ? subject[UID_ATTRIBUTE] : undefined
  if (Array.isArray(uids) || uids === '') return false
  const groups = subject['O'] ?? []
  const extra = { 'authentication.kubernetes.io/credential-id': [credentialOf(raw)] }
  return { name, uid: uids ?? '', groups: typeof groups === 'string' ? [groups] : groups, extra }
}

const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2'

/** Audit events name the certificate by this. */
const credentialOf = keptBy((raw: Uint8Array) => `X509SHA256=${createHash('sha256').update(raw).digest('hex')}`)

/** Of several common names, the last one counts, as in Go's certificates. */
export function commonNameOf({ CN: names = '' }: ClientCertificate['subject']): string {
  return typeof names === 'string' ? names : (names.at(-1) ?? '')
}

// ---- tokens

/** The audience of this server. */
export const API_AUDIENCE = 'https://kubernetes.default.svc'
const FOR_US: readonly string[] = [API_AUDIENCE]

/** Checks a token; undefined if it is not of the type that the authenticator knows. */
export type TokenAuthenticator = (
  token: string,
  audiences: readonly string[],
  notes?: Notes,
) => Awaitable<TokenCheck | undefined>

export type TokenCheck =
  | { readonly ok: true; readonly identity: Identity; readonly audiences: readonly string[] }
  | { readonly ok: false; readonly error: string }

/** Static tokens. They name no audience, so they are for the audiences of the server. */
export function staticTokens(
  tokens: ReadonlyMap<string, Identity>,
  ownAudiences: readonly string[] = FOR_US,
): TokenAuthenticator {
  // Tokens may be added while the server runs.
  const checks = new Map<string, TokenCheck>()
  const check = (token: string): TokenCheck | undefined => {
    const identity = tokens.get(token)
    if (!identity) return undefined
    const result: TokenCheck = { ok: true, identity: withAuthenticated(identity), audiences: ownAudiences }
    checks.set(token, result)
    return result
  }
  return (token, audiences) =>
    audiences.some(each => ownAudiences.includes(each)) ? (checks.get(token) ?? check(token)) : undefined
}

/** Asks the authenticators in turn. A token must be for one of these audiences. */
export function checkToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[] = FOR_US,
  notes?: Notes,
): Awaitable<TokenCheck> {
  const askFrom = (at: number, errors: readonly string[]): Awaitable<TokenCheck> => {
    const authenticator = authenticators[at]
    if (!authenticator) return { ok: false, error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
    return andThen(authenticator(token, audiences, notes), check =>
      check?.ok ? check : askFrom(at + 1, check ? [...errors, check.error] : errors),
    )
  }
  return askFrom(0, INVALID)
}

const INVALID: readonly string[] = ['invalid bearer token']

export function byBearer(
  authenticators: readonly TokenAuthenticator[],
  ownAudiences: readonly string[] = FOR_US,
): Authenticator {
  return ({ authorization }, notes) => {
    const token = bearerToken(authorization)
    if (token === undefined) return undefined
    return andThen(checkToken(authenticators, token, ownAudiences, notes), check => check.ok && check.identity)
  }
}

export const byToken = (tokens: ReadonlyMap<string, Identity>): Authenticator => byBearer([staticTokens(tokens)])

/** The token of an Authorization header; undefined for other schemes and for an empty token. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const text = authorization?.trim() ?? ''
  const space = text.indexOf(' ')
  if (space === -1 || text.slice(0, space).toLowerCase() !== 'bearer') return undefined
  const end = text.indexOf(' ', space + 1)
  return text.slice(space + 1, end === -1 ? undefined : end) || undefined
}

/** The warning for a header whose token is ignored because of extra spaces. */
export function bearerWarning(authorization: string | undefined): string | undefined {
  return authorization !== undefined && /^\s*bearer  +\S/i.test(authorization)
    ? 'the provided Authorization header contains extra space before the bearer token, and is ignored'
    : undefined
}
