// Signing in and out. `POST /console/api/session` exchanges a one-time code or a bearer token for a session, `GET` says
// whose session it is, `DELETE` ends it. These are open to clients without credentials, so they come before
// authentication, and everything that they do is bounded here.
import type { OutgoingHttpHeaders } from 'node:http'
import { checkToken, type TokenAuthenticator, withAuthenticated } from '../../auth/authenticator.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { BodyTooLarge, type Exchange } from '../../http/exchange.js'
import {
  badRequest,
  genericResponse,
  requestEntityTooLarge,
  StatusError,
  timeout,
  tooManyRequests,
  unauthorized,
  unsupportedMediaType,
} from '../../meta/errors/status.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import { printUserInfo } from '../../request/user-info.js'
import { SECURITY_HEADERS } from '../page/security-headers.js'
import { type Credential, IDLE_MS, type Session, type Sessions } from '../sessions.js'
import { createAttempts } from './attempts.js'
import { readCookie, removeCookie, setCookie } from './cookie.js'
import { isOwnPage, originOf } from './origin.js'

export const SESSION_PATH = '/console/api/session'
/** The page sends the key of its session in it. Pages of other origins cannot send it without being asked first. */
export const KEY_HEADER = 'x-binnacle-console'

export interface SignInParts {
  readonly sessions: Sessions
  readonly tokens: readonly TokenAuthenticator[]
  /** The audiences of this server. */
  readonly audiences: readonly string[]
  /** What the page gets about the server, with its session. */
  readonly about: ValueObject
}

export interface SignIn {
  /**
   * The user of the session that a request belongs to; `false` if it names one that is not there. A request without the
   * header is not one of the page, whatever cookie it has: then this is undefined.
   */
  authenticate(exchange: Exchange): Awaitable<UserInfo | false | undefined>
  /** Serves SESSION_PATH. */
  handle(exchange: Exchange): Promise<void>
}

const MAX_BODY = 64 * 1024
const BODY_MS = 10_000
const MAX_ARRIVING = 100

export function createSignIn({ sessions, tokens, audiences, about }: SignInParts): SignIn {
  const attempts = createAttempts()
  /** Stops waiting for a body. Oldest first. */
  const arriving = new Set<(error: StatusError) => void>()

  function find(exchange: Exchange): { readonly id: string; readonly session: Session } | undefined {
    const key = exchange.headers[KEY_HEADER]
    const origin = originOf(exchange)
    if (typeof key !== 'string' || origin === undefined || !isOwnPage(exchange, origin)) return undefined
    const id = readCookie(exchange.headers.cookie, origin)
    const session = id === undefined ? undefined : sessions.find(id, key, origin)
    return session && { id: id!, session }
  }

  const userOf = (credential: Credential): Awaitable<UserInfo | undefined> =>
    'user' in credential
      ? withAuthenticated(credential.user)
      : andThen(checkToken(tokens, credential.token, audiences), check =>
          check.ok ? withAuthenticated(check.identity) : undefined,
        )

  function authenticate(exchange: Exchange): Awaitable<UserInfo | false | undefined> {
    if (exchange.headers[KEY_HEADER] === undefined) return undefined
    const found = find(exchange)
    if (!found) return false
    return andThen(userOf(found.session.credential), user => {
      if (!user) sessions.close(found.id)
      return user ?? false
    })
  }

  async function readBody(exchange: Exchange): Promise<Buffer> {
    let giveUp: (error: StatusError) => void = () => {}
    const late = new Promise<never>((_, reject) => (giveUp = reject))
    const timer = setTimeout(() => giveUp(timeout('the body did not arrive')), BODY_MS)
    // Clients that send nothing keep no other out: one that means well has sent its body long before.
    const [oldest] = arriving
    if (oldest && arriving.size >= MAX_ARRIVING) {
      arriving.delete(oldest)
      oldest(tooManyRequests('too many clients sign in at the moment', 1))
    }
    arriving.add(giveUp)
    try {
      return await Promise.race([exchange.body(MAX_BODY), late])
    } catch (error) {
      throw error instanceof BodyTooLarge ? requestEntityTooLarge(`limit is ${MAX_BODY}`) : error
    } finally {
      clearTimeout(timer)
      arriving.delete(giveUp)
    }
  }

  async function signIn(exchange: Exchange): Promise<void> {
    const { headers, peer } = exchange
    const origin = originOf(exchange)
    if (origin === undefined) throw badRequest('the request names no host')
    if (!isOwnPage(exchange, origin)) throw genericResponse(403, 'POST', 'only the console itself may sign in')
    if (headers['content-type']?.split(';')[0]?.trim() !== 'application/json') {
      throw unsupportedMediaType(['application/json'])
    }
    const given = parseBody(await readBody(exchange))
    const credential = 'code' in given ? sessions.redeemCode(given.code) : given
    const user = credential && (await userOf(credential))
    if (!user) {
      await attempts.failed(peer.address)
      throw unauthorized('code' in given ? WRONG_CODE : 'the token is not valid for this server')
    }
    // Never the id that the browser came with: another page could have set it.
    const before = readCookie(headers.cookie, origin)
    if (before !== undefined) sessions.close(before)
    const { id, key, session } = sessions.open({ credential, user, origin })
    const body = { key, ...describe(session, user), idleSeconds: IDLE_MS / 1000 }
    sendJson(exchange, 201, body, { 'set-cookie': setCookie(origin, id) })
  }

  const describe = ({ expiresAt }: Session, user: UserInfo): ValueObject => ({
    user: printUserInfo(user),
    expiresAt: new Date(expiresAt).toISOString(),
    ...about,
  })

  async function show(exchange: Exchange): Promise<void> {
    const user = await authenticate(exchange)
    const found = user && find(exchange)
    if (!found) throw unauthorized('there is no session: sign in')
    sendJson(exchange, 200, describe(found.session, user))
  }

  function signOut(exchange: Exchange): void {
    const origin = originOf(exchange)
    const found = find(exchange)
    if (!found || origin === undefined) throw unauthorized('there is no session')
    sessions.close(found.id)
    exchange.begin(204, { ...HEADERS, 'set-cookie': removeCookie(origin) }).end()
  }

  return {
    authenticate,
    async handle(exchange) {
      try {
        if (exchange.method === 'POST') await signIn(exchange)
        else if (exchange.method === 'GET') await show(exchange)
        else if (exchange.method === 'DELETE') signOut(exchange)
        else throw genericResponse(405)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        const { code = 500, details } = error.status
        const retry = details?.retryAfterSeconds
        sendJson(exchange, code, error.status, retry ? { 'retry-after': String(retry) } : {})
      }
    },
  }
}

const WRONG_CODE =
  'the link is not valid: it signs in once, within ten minutes. `binnacle console` prints another one, as does a new start of the server'

function parseBody(bytes: Buffer): { readonly code: string } | { readonly token: string } {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    // The same answer as for other wrong bodies.
  }
  const { code, token } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  if (typeof code === 'string' && token === undefined) return { code }
  if (typeof token === 'string' && code === undefined) return { token: token.trim() }
  throw badRequest('the body must be {"code": "…"} or {"token": "…"}')
}

const HEADERS: OutgoingHttpHeaders = { ...SECURITY_HEADERS, 'cache-control': 'no-store' }

function sendJson(exchange: Exchange, status: number, body: object, headers: OutgoingHttpHeaders = {}): void {
  exchange.answer(status, { ...HEADERS, 'content-type': 'application/json', ...headers }, `${JSON.stringify(body)}\n`)
}
