// Authenticates a request: by a session of the console, by a proxy that names the user, by a bearer token, or by a client
// certificate.
import {
  type Authenticator,
  authenticate,
  bearerWarning,
  byBearer,
  byCertificate,
  byCertificateWithoutUid,
  type Credentials,
  orRefused,
  type TokenAuthenticator,
  userOfHeaders,
} from '../../../auth/authenticator.js'
import { type Awaitable, andThen } from '../../../base/awaitable.js'
import type { Exchange } from '../../../http/exchange.js'
import type { Authenticate } from '../../../http/handler.js'
import type { UserInfo } from '../../../request/user-info.js'
import type { AuthenticationOptions, RequestHeaderOptions } from '../../options/access/authentication.js'
import { type AuthorizationOptions, allowsEverything } from '../../options/access/authorization.js'
import type { ClientCertificates } from './client-certificates.js'

export interface AuthenticationParts {
  readonly tokens: readonly TokenAuthenticator[]
  /** The audiences of this server. */
  readonly audiences: readonly string[]
  /** The paths that may be requested without credentials; none, or all. */
  readonly anonymous: AnonymousPaths
  readonly requestHeader?: RequestHeaderOptions | undefined
  readonly certificates: ClientCertificates
  /** Whether users of client certificates have no uid. */
  readonly ignoresCertificateUid?: boolean | undefined
  /** The user of a request that belongs to a session of the console, `false` if there is no such session. */
  readonly ofSession?: ((exchange: Exchange) => Awaitable<UserInfo | false | undefined>) | undefined
}

export type AnonymousPaths = 'all' | 'none' | ReadonlySet<string>

/** A configuration file decides alone. Without it, AlwaysAllow would let an anonymous request do everything. */
export function anonymousPaths(
  { anonymous, openIdConnect }: AuthenticationOptions,
  authorization: AuthorizationOptions,
): AnonymousPaths {
  const configured = openIdConnect?.configuration.anonymous
  if (!configured) return anonymous && !allowsEverything(authorization) ? 'all' : 'none'
  if (!configured.enabled) return 'none'
  return configured.paths.length === 0 ? 'all' : new Set(configured.paths)
}

export function createAuthenticate(parts: AuthenticationParts): Authenticate {
  const { tokens, audiences, anonymous, requestHeader, certificates, ofSession, ignoresCertificateUid } = parts
  // In kube-apiserver's order: a valid certificate wins over a token.
  const byClient = ignoresCertificateUid ? byCertificateWithoutUid : byCertificate
  const bearer = byBearer(tokens, audiences)
  const ofAll: Authenticator[] = [byClient, bearer]
  const ofAllButProxies: Authenticator[] = [orRefused(byClient), bearer]
  return (exchange, notes) => {
    // A request that names a session has no other credentials, also not the certificate of the browser.
    const session = ofSession?.(exchange)
    if (session !== undefined) return andThen(session, user => user || undefined)
    const isProxy = requestHeader !== undefined && certificates.isProxy(exchange)
    const proxied = isProxy ? userOfHeaders(requestHeader, exchange.rawHeaders) : undefined
    const credentials = new SentCredentials(exchange, certificates)
    if (proxied) return authenticate(credentials, [() => proxied], false)
    const warning = bearerWarning(exchange.headers.authorization)
    if (warning) notes.warn(warning)
    const isAllowed = typeof anonymous === 'string' ? anonymous === 'all' : anonymous.has(pathOf(exchange))
    return authenticate(credentials, requestHeader && !isProxy ? ofAllButProxies : ofAll, isAllowed, notes)
  }
}

/** As Go has it: without escapes. */
function pathOf({ path }: Exchange): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** A class, because one is created for every request and getters of object literals are slow to create. */
class SentCredentials implements Credentials {
  readonly authorization: string | undefined

  constructor(
    private readonly exchange: Exchange,
    private readonly certificates: ClientCertificates,
  ) {
    this.authorization = exchange.headers.authorization
  }

  get certificate(): Credentials['certificate'] {
    const certificate = this.exchange.peer.certificate()
    if (!certificate?.isValid || this.certificates.isClient(this.exchange)) return certificate
    return { ...certificate, isValid: false }
  }
}
