// Who is asking: by a client certificate, by a bearer token, or nobody in particular.
import type { Caller } from '../resources/resource-context.js'

/** What a request brings along to prove who sent it. */
export interface Credentials {
  readonly authorization: string | undefined
  /** The subject of a client certificate that the server's authority vouches for. */
  readonly certificateSubject: Readonly<Record<string, string | string[]>> | undefined
  readonly userAgent: string
}

/** One way to be known: the caller, `undefined` when it has nothing to say, `false` when the proof is wrong. */
export type Authenticator = (credentials: Credentials) => Promise<Identity | false | undefined>

export type Identity = Omit<Caller, 'userAgent'>

export const AUTHENTICATED = 'system:authenticated'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const MASTERS = 'system:masters'
const ANONYMOUS: Identity = { name: 'system:anonymous', uid: '', groups: [UNAUTHENTICATED], extra: {} }

/**
 * Asks each authenticator in turn. A wrong proof is worse than none: then nobody is let in, not even as nobody.
 * Answers nothing when the caller is not to be let in.
 */
export async function authenticate(
  credentials: Credentials,
  authenticators: readonly Authenticator[],
  allowAnonymous: boolean,
): Promise<Caller | undefined> {
  let isRefused = false
  for (const authenticator of authenticators) {
    const identity = await authenticator(credentials)
    if (identity) {
      return { ...withAuthenticated(identity), userAgent: credentials.userAgent }
    }
    if (identity === false) isRefused = true
  }
  return isRefused || !allowAnonymous ? undefined : { ...ANONYMOUS, userAgent: credentials.userAgent }
}

export const withAuthenticated = (identity: Identity): Identity =>
  identity.groups.includes(AUTHENTICATED) ? identity : { ...identity, groups: [...identity.groups, AUTHENTICATED] }

/** The common name is the user, the organizations are the groups. */
export const byCertificate: Authenticator = async ({ certificateSubject: subject }) => {
  const name = subject?.['CN']
  if (!subject || typeof name !== 'string') return undefined
  const groups = subject['O'] ?? []
  return { name, uid: '', groups: typeof groups === 'string' ? [groups] : groups, extra: {} }
}

// ---- tokens

/** Whom the server's own tokens are for, and who else may be named. */
export const API_AUDIENCE = 'https://kubernetes.default.svc'

/** What is known of a token; undefined when it is none of those that are looked after there. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Promise<TokenCheck | undefined>

export type TokenCheck =
  | { readonly ok: true; readonly identity: Identity; readonly audiences: readonly string[] }
  | { readonly ok: false; readonly error: string }

/** The tokens of a file, which are for the server itself and nobody else. */
export const staticTokens =
  (tokens: ReadonlyMap<string, Identity>): TokenAuthenticator =>
  async (token, audiences) => {
    const identity = tokens.get(token)
    return identity && audiences.includes(API_AUDIENCE) ? { ok: true, identity, audiences: [API_AUDIENCE] } : undefined
  }

/** Asks those who know tokens, in turn, on behalf of these audiences, or of the server itself. */
export async function checkToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[] = [],
): Promise<TokenCheck> {
  const errors = ['invalid bearer token']
  for (const authenticator of authenticators) {
    const check = await authenticator(token, audiences.length === 0 ? [API_AUDIENCE] : audiences)
    if (check?.ok) return check
    if (check) errors.push(check.error)
  }
  return { ok: false, error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
}

export function byBearer(authenticators: readonly TokenAuthenticator[]): Authenticator {
  return async ({ authorization }) => {
    const token = bearerToken(authorization)
    if (token === undefined) return undefined
    const check = await checkToken(authenticators, token)
    return check.ok && check.identity
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
