// Listeners that outlive a server: they are open before it has started, and stay open when it stops.
import type { Exchange } from '../../../http/exchange.js'
import { createSlowReaders, type SlowReaders } from '../../../http/listener.js'
import { type AuthorizationOptions, allowsEverything } from '../../options/access/authorization.js'
import type { ServingOptions } from '../../options/serving.js'
import type { Tls } from '../../tls/tls.js'
import { type Listeners, openListeners } from './listeners.js'

export interface OpenListeners extends Listeners {
  readonly tls: Tls | undefined
  readonly readers: SlowReaders
}

export interface SharedListeners extends OpenListeners {
  /** Called by a server that is ready for requests. */
  receive(handle: (exchange: Exchange) => void): void
}

/** `keepsAlive`: whether the process goes on for them alone. */
export async function openSharedListeners(
  { serving, authorization }: { readonly serving: ServingOptions; readonly authorization: AuthorizationOptions },
  tls: Tls | undefined,
  handle: (exchange: Exchange) => void,
  keepsAlive: boolean,
): Promise<OpenListeners> {
  const readers = createSlowReaders()
  const listeners = await openListeners(serving, tls, handle, {
    readers,
    unref: !keepsAlive,
    isOpen: allowsEverything(authorization),
  })
  return { ...listeners, tls, readers }
}

/** The shared listeners as those of one server. */
export function receiveRequests(listeners: SharedListeners, handle: (exchange: Exchange) => void): Listeners {
  listeners.receive(handle)
  return { ...listeners, close: async () => {} }
}
