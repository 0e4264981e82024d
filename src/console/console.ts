// The console: a web page that the server itself serves, and what the page needs beside the API. It comes before the
// handler of the API: the files of the page and the sign-in are for clients without credentials. Everything else that
// the page does goes through the API as the user of its session.

import type { Awaitable } from '../base/awaitable.js'
import type { Logger } from '../base/logger.js'
import { packageFile } from '../base/package-file.js'
import type { Exchange } from '../http/exchange.js'
import type { PathTable } from '../http/pages.js'
import type { UserInfo } from '../request/user-info.js'
import { type EndpointParts, endpointPaths } from './endpoints/endpoints.js'
import { createRecentRequests, type RecentRequests } from './endpoints/recent-requests.js'
import { CONSOLE_PATH, createPage } from './page/serve-page.js'
import { createSignIn, SESSION_PATH } from './sign-in/sign-in.js'

export interface ConsoleParts extends EndpointParts {
  /** The folder with the built page; that of the package when absent. */
  readonly pageFolder?: string | undefined
  readonly log: Logger
}

type Handle = (exchange: Exchange) => void

export interface Console {
  /** Serves the page and the sign-in, and passes all other requests on. */
  before(api: Handle): Handle
  /** The user of a request that belongs to a session; undefined for all other requests. */
  authenticate(exchange: Exchange): Awaitable<UserInfo | false | undefined>
  /** Endpoints below /console/api/ that are authenticated and authorized as other paths are. */
  readonly paths: PathTable
  /** Called for each request once it is answered. */
  readonly observe: RecentRequests['add']
}

export function createConsole(parts: ConsoleParts): Console {
  const { log, pageFolder = packageFile('dist/page') } = parts
  const servePage = createPage(pageFolder)
  const signIn = createSignIn(parts)
  const recent = createRecentRequests()
  const serverOf = ({ path }: Exchange): ((exchange: Exchange) => Promise<void>) | undefined => {
    if (path === SESSION_PATH) return signIn.handle
    if (path.startsWith(`${CONSOLE_PATH}api/`)) return undefined
    return path.startsWith(CONSOLE_PATH) || path === CONSOLE_PATH.slice(0, -1) ? servePage : undefined
  }
  return {
    before: api => exchange => {
      const serve = serverOf(exchange)
      if (!serve) return api(exchange)
      serve(exchange).catch((error: unknown) => {
        if (exchange.gone) return
        log.error('a request of the console could not be answered', { path: exchange.path, error })
        exchange.answer(500, { 'content-type': 'text/plain; charset=utf-8' }, 'something went wrong in the server\n')
      })
    },
    authenticate: signIn.authenticate,
    paths: endpointPaths(parts, recent),
    observe: recent.add,
  }
}
