// What a program takes part in that runs the server inside itself. The testing kit uses it.
import type { ServedRequest } from '../../http/handler.js'
import type { PathTable } from '../../http/pages.js'
import type { Verbs } from '../../verbs/verbs.js'
import type { SharedListeners } from '../startup/listeners/shared-listeners.js'

export interface ServerHooks {
  /** Puts a layer before the verbs: it may delay, refuse or change what they do. */
  readonly wrapVerbs?: ((verbs: Verbs) => Verbs) | undefined
  /** Called for each request once it is answered. */
  readonly observe?: ((request: ServedRequest, status: number, milliseconds: number) => void) | undefined
  /** Called with the host before each call of a webhook. It may wait, and reject as a connection to it would. */
  readonly beforeWebhookCall?: ((host: string) => Promise<void>) | undefined
  /** Paths beside those of the API. */
  readonly paths?: PathTable | undefined
  /** Listeners that outlive the server, in the place of its own. */
  readonly listeners?: SharedListeners | undefined
  /** The store has the system objects already. */
  readonly isBootstrapped?: boolean | undefined
}
