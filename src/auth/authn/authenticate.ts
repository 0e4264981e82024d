// Who is asking: by a client certificate, by a bearer token, or nobody in particular.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { type UserInfo } from '../../request/user-info.js'
import { AUTHENTICATED, UNAUTHENTICATED } from './system-groups.js'

/** What a request brings along to prove who sent it. */
export interface Credentials {
  readonly authorization: string | undefined
  /** The subject of a client certificate that the server's authority vouches for. */
  readonly certificateSubject: Readonly<Record<string, string | string[]>> | undefined
}

/** One way to be known: the caller, `undefined` when it has nothing to say, `false` when the proof is wrong. */
export type Authenticator = (credentials: Credentials) => Awaitable<Identity | false | undefined>

export type Identity = UserInfo

const ANONYMOUS: Identity = { name: 'system:anonymous', uid: '', groups: [UNAUTHENTICATED], extra: {} }

/**
 * Asks each authenticator in turn. A wrong proof is worse than none: then nobody is let in, not even as nobody.
 * Answers nothing when the caller is not to be let in.
 */
export function authenticate(
  credentials: Credentials,
  authenticators: readonly Authenticator[],
  allowAnonymous: boolean,
): Awaitable<UserInfo | undefined> {
  const askFrom = (at: number, isRefused: boolean): Awaitable<UserInfo | undefined> => {
    const authenticator = authenticators[at]
    if (!authenticator) return isRefused || !allowAnonymous ? undefined : ANONYMOUS
    return andThen(authenticator(credentials), identity =>
      identity ? withAuthenticated(identity) : askFrom(at + 1, isRefused || identity === false),
    )
  }
  return askFrom(0, false)
}

export const withAuthenticated = (identity: Identity): Identity =>
  identity.groups.includes(AUTHENTICATED) ? identity : { ...identity, groups: [...identity.groups, AUTHENTICATED] }

/** The common name is the user, the organizations are the groups. */
export const byCertificate: Authenticator = ({ certificateSubject: subject }) => {
  const name = subject?.['CN']
  if (!subject || typeof name !== 'string') return undefined
  const groups = subject['O'] ?? []
  return { name, uid: '', groups: typeof groups === 'string' ? [groups] : groups, extra: {} }
}

// ---- tokens

/** Whom the server's own tokens are for, and who else may be named. */
export const API_AUDIENCE = 'https://kubernetes.default.svc'
const FOR_US: readonly string[] = [API_AUDIENCE]

/** What is known of a token; undefined when it is none of those that are looked after there. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Awaitable<TokenCheck | undefined>

export type TokenCheck =
  | { readonly ok: true; readonly identity: Identity; readonly audiences: readonly string[] }
  | { readonly ok: false; readonly error: string }

/** Static tokens. They name no audience, so they are for the audiences of the server. */
export function staticTokens(
  tokens: ReadonlyMap<string, Identity>,
  ownAudiences: readonly string[] = FOR_US,
): TokenAuthenticator {
  const checks = new Map<string, TokenCheck>()
  for (const [token, identity] of tokens) {
    checks.set(token, { ok: true, identity: withAuthenticated(identity), audiences: ownAudiences })
  }
  return (token, audiences) => (audiences.some(each => ownAudiences.includes(each)) ? checks.get(token) : undefined)
}

/** Asks the authenticators in turn. A token must be for one of these audiences. */
export function checkToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[] = FOR_US,
): Awaitable<TokenCheck> {
  const askFrom = (at: number, errors: readonly string[]): Awaitable<TokenCheck> => {
    const authenticator = authenticators[at]
    if (!authenticator) return { ok: false, error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
    return andThen(authenticator(token, audiences), check =>
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
  return ({ authorization }) => {
    const token = bearerToken(authorization)
    if (token === undefined) return undefined
    return andThen(checkToken(authenticators, token, ownAudiences), check => check.ok && check.identity)
  }
}

export const byToken = (tokens: ReadonlyMap<string, Identity>): Authenticator => byBearer([staticTokens(tokens)])

/** The token of an Authorization header; a header of another kind, or without a token, says nothing. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme = '', token = ''] = authorization?.trim().split(' ') ?? []
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

/** Why a header that looks as if it held a token says nothing. */
export function bearerWarning(authorization: string | undefined): string | undefined {
  return authorization !== undefined && /^\s*bearer  +\S/i.test(authorization)
    ? 'the provided Authorization header contains extra space before the bearer token, and is ignored'
    : undefined
}
