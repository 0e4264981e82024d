// `POST /console/api/codes`: a code with which a browser signs in as the user of this request. `binnacle console` uses it.
import { bearerToken, checkToken, type TokenAuthenticator } from '../../auth/authenticator.js'
import type { PathHandler } from '../../http/pages.js'
import { genericResponse } from '../../meta/errors/status.js'
import { CODE_MS, type Credential, type Sessions } from '../sessions.js'
import { KEY_HEADER } from '../sign-in/sign-in.js'

export interface CodeParts {
  readonly sessions: Sessions
  readonly tokens: readonly TokenAuthenticator[]
  readonly audiences: readonly string[]
}

export const serveCode =
  ({ sessions, tokens, audiences }: CodeParts): PathHandler =>
  async ({ user, impersonator, reply }) => {
    const { method, headers } = reply.exchange
    if (method !== 'POST') throw genericResponse(405)
    // A session of the page would last longer than it by a code of its own.
    if (impersonator || headers[KEY_HEADER] !== undefined) {
      throw genericResponse(403, method, 'a code is given only to a client with credentials of its own')
    }
    const token = bearerToken(headers.authorization)
    const check = token === undefined ? undefined : await checkToken(tokens, token, audiences)
    const credential: Credential = check?.ok && check.identity.name === user.name ? { token: token! } : { user }
    const body = { code: sessions.createCode(credential), expiresInSeconds: CODE_MS / 1000 }
    reply.send(201, { 'content-type': 'application/json', 'cache-control': 'no-store' }, `${JSON.stringify(body)}\n`)
  }
