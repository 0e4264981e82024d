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
      const groups = identity.groups.includes(AUTHENTICATED) ? identity.groups : [...identity.groups, AUTHENTICATED]
      return { ...identity, groups, userAgent: credentials.userAgent }
    }
    if (identity === false) isRefused = true
  }
  return isRefused || !allowAnonymous ? undefined : { ...ANONYMOUS, userAgent: credentials.userAgent }
}

/** The common name is the user, the organizations are the groups. */
export const byCertificate: Authenticator = async ({ certificateSubject: subject }) => {
  const name = subject?.['CN']
  if (!subject || typeof name !== 'string') return undefined
  const groups = subject['O'] ?? []
  return { name, uid: '', groups: typeof groups === 'string' ? [groups] : groups, extra: {} }
}

export function byToken(tokens: ReadonlyMap<string, Identity>): Authenticator {
  return async ({ authorization }) => {
    const token = bearerToken(authorization)
    return token === undefined ? undefined : (tokens.get(token) ?? false)
  }
}

/** The token of an Authorization header; a header of another kind, or without a token, says nothing. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme = '', token = ''] = authorization?.trim().split(' ') ?? []
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}
