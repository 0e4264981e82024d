// The server behind a test server. A reset replaces it by one that begins with other objects, behind the same listener.
import type { Identity } from '../auth/authenticator.js'
import type { Exchange } from '../http/exchange.js'
import type { PathTable } from '../http/pages.js'
import type { Registry } from '../kinds/registry.js'
import type { KeyPair } from '../server/kubeconfig.js'
import type { ServerOptions } from '../server/options.js'
import { type Listeners, openListeners, type Server, startServer } from '../server/server.js'
import { createMemoryStore, type MemoryStore } from '../storage/memory-store.js'
import type { Verbs } from '../verbs/verbs.js'
import type { TestClock } from './clock.js'
import { createFaults, type FaultInjector } from './faults/faults.js'
import { faultyVerbs } from './faults/faulty-verbs.js'
import { createRequestLog, type WritableRequestLog } from './request-log.js'
import type { Snapshot } from './snapshots.js'

export interface TestCore {
  readonly url: string
  readonly server: Server
  readonly ca: string
  readonly client: KeyPair | undefined
  readonly tokens: Map<string, Identity>
  readonly registry: Registry
  readonly faults: FaultInjector
  readonly requests: WritableRequestLog
  revision(): number
  snapshot(): Snapshot
  fork(clock: TestClock): Promise<TestCore>
  reset(to: Snapshot): Promise<void>
  stop(): Promise<void>
}

export interface CoreOptions {
  readonly options: ServerOptions
  readonly clock: TestClock
  readonly from?: Snapshot | undefined
  /** Paths beside those of the API. */
  readonly paths?: PathTable | undefined
  readonly signal?: AbortSignal | undefined
}

export async function startCore({ options, clock, from, paths, signal }: CoreOptions): Promise<TestCore> {
  const faults = createFaults(clock.now)
  const requests = createRequestLog()
  const tokens = new Map(options.authentication.tokens)
  const listener = createSharedListener()

  /** A server on a store of its own, which receives the requests from now on. */
  async function serve(store: MemoryStore, isBootstrapped: boolean): Promise<Server> {
    const hooked = {
      ...options,
      authentication: { ...options.authentication, tokens },
      storage: { kind: 'memory', store } as const,
      clock,
      hooks: {
        listen: listener.open,
        isBootstrapped,
        observe: requests.add,
        wrapVerbs: (verbs: Verbs) => faultyVerbs(verbs, faults, () => store.revision()),
        paths,
      },
    }
    return startServer(hooked, signal)
  }

  let store = createMemoryStore(from)
  let server = await serve(store, from !== undefined)
  const { ca = '', client } = server.access
  return {
    url: server.access.server,
    get server() {
      return server
    },
    ca,
    client,
    tokens,
    get registry() {
      return server.registry
    },
    faults,
    requests,
    revision: () => store.snapshot().revision,
    snapshot: () => store.snapshot(),
    fork: forkClock =>
      startCore({
        options: { ...options, authentication: { ...options.authentication, tokens }, serving: onFreePort(options) },
        clock: forkClock,
        from: store.snapshot(),
      }),
    async reset(to) {
      // At a later revision than any that clients have seen, so that none of them resumes a watch.
      const next = createMemoryStore(to, store.snapshot().revision + 1)
      const before = server
      server = await serve(next, true)
      store = next
      await before.stop()
    },
    async stop() {
      await server.stop()
      await listener.close()
    },
  }
}

/** A fork listens where the first server does not. */
const onFreePort = ({ serving }: ServerOptions): ServerOptions['serving'] => ({
  ...serving,
  ...(serving.https && { https: { ...serving.https, port: 0 } }),
  ...(serving.http && { http: { port: 0 } }),
})

/** Listeners that outlive a server: the one that has opened them last receives the requests. */
function createSharedListener() {
  let listeners: Promise<Listeners> | undefined
  let handle: (exchange: Exchange) => void = () => {}
  const open: NonNullable<NonNullable<ServerOptions['hooks']>['listen']> = async (serving, tls, next, rules) => {
    handle = next
    listeners ??= openListeners(serving, tls, exchange => handle(exchange), rules)
    return { ...(await listeners), close: async () => {} }
  }
  return { open, close: async () => (await listeners)?.close() }
}
