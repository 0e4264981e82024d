// What a program takes part in that runs the server inside itself. The testing kit uses it.
import type { Exchange } from '../../http/exchange.js'
import type { ServedRequest } from '../../http/handler.js'
import type { PathTable } from '../../http/pages.js'
import type { Verbs } from '../../verbs/verbs.js'
import type { ConnectionRules, Listeners } from '../startup/listeners.js'
import type { Tls } from '../tls/tls.js'
import type { ServingOptions } from './serving.js'

export interface ServerHooks {
  /** Puts a layer before the verbs: it may delay, refuse or change what they do. */
  readonly wrapVerbs?: ((verbs: Verbs) => Verbs) | undefined
  /** Called for each request once it is answered. */
  readonly observe?: ((request: ServedRequest, status: number, milliseconds: number) => void) | undefined
  /** Paths beside those of the API. */
  readonly paths?: PathTable | undefined
  /** Receives requests in the place of listeners of the server's own. */
  readonly listen?: OpenListeners | undefined
  /** The store has the system objects already. */
  readonly isBootstrapped?: boolean | undefined
}

export type OpenListeners = (
  serving: ServingOptions,
  tls: Tls | undefined,
  handle: (exchange: Exchange) => void,
  rules: ConnectionRules,
) => Promise<Listeners>
