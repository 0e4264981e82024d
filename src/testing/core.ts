// The server behind a test server. A fork and a reset begin with the objects of a snapshot and with listeners alone, so that
// they cost the same whatever the server holds: the server behind them starts with the first request.
import type { Identity } from '../auth/authenticator.js'
import { once } from '../base/memo.js'
import type { Exchange } from '../http/exchange.js'
import type { PathTable } from '../http/pages.js'
import type { KeyPair } from '../server/kubeconfig.js'
import type { ServerOptions } from '../server/options.js'
import { clientUrl, openSharedListeners, prepareServerTls, type Server, startServer } from '../server/server.js'
import type { Tls } from '../server/tls.js'
import { createMemoryStore, type MemoryStore } from '../storage/memory-store.js'
import type { Verbs } from '../verbs/verbs.js'
import type { TestClock } from './clock.js'
import { createFaults, type FaultInjector } from './faults/faults.js'
import { faultyVerbs } from './faults/faulty-verbs.js'
import { callWebhook } from './faults/faulty-webhooks.js'
import { createRequestLog, type WritableRequestLog } from './request-log.js'
import type { Snapshot } from './snapshots.js'

export interface TestCore {
  readonly url: string
  readonly ca: string
  readonly client: KeyPair | undefined
  readonly tokens: Map<string, Identity>
  readonly faults: FaultInjector
  readonly requests: WritableRequestLog
  /** The running server. It starts now if nothing has needed it since the fork or the reset. */
  server(): Promise<Server>
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
  /** Whether the process goes on for the server alone; a test ends though its server was not stopped. */
  readonly keepsAlive?: boolean | undefined
}

/** Resolves when the server has started. */
export async function startCore(parts: CoreOptions): Promise<TestCore> {
  const core = await openCore(parts, await prepareServerTls(parts.options))
  try {
    await core.server()
  } catch (error) {
    await core.stop()
    throw error
  }
  return core
}

async function openCore(
  { options, clock, from, paths, signal, keepsAlive = false }: CoreOptions,
  tls: Tls | undefined,
): Promise<TestCore> {
  const faults = createFaults(clock.now)
  const requests = createRequestLog()
  const tokens = new Map(options.authentication.tokens)
  const listeners = await openSharedListeners(options, tls, exchange => stage.handle(exchange), keepsAlive)

  function createStage(store: MemoryStore, isBootstrapped: boolean): Stage {
    let handle: Stage['handle'] | undefined
    const hooked = {
      ...options,
      authentication: { ...options.authentication, tokens },
      storage: { kind: 'memory', store } as const,
      clock,
      hooks: {
        listeners: { ...listeners, receive: (ready: Stage['handle']) => void (handle = ready) },
        isBootstrapped,
        observe: requests.add,
        beforeWebhookCall: (host: string) => callWebhook(host, faults),
        wrapVerbs: (verbs: Verbs) => faultyVerbs(verbs, faults, () => store.revision()),
        paths,
      },
    }
    let isNeeded = false
    const start = once(() => startServer(hooked, signal))
    const server = (): Promise<Server> => {
      isNeeded = true
      return start()
    }
    return {
      store,
      server,
      handle(exchange) {
        if (handle) return handle(exchange)
        // The first requests wait for the server.
        server().then(
          () => handle!(exchange),
          () => exchange.cut(),
        )
      },
      async end() {
        const started = isNeeded ? await start().catch(() => undefined) : undefined
        return { stopped: started?.stop() ?? Promise.resolve() }
      },
    }
  }

  const stopStage = async (): Promise<void> => (await stage.end()).stopped
  /** The stop of the server before the last reset. */
  let stopped: Promise<void> = Promise.resolve()

  let stage = createStage(createMemoryStore(from), from !== undefined)
  return {
    url: clientUrl(listeners.url),
    ca: listeners.httpsUrl && tls ? tls.ca : '',
    client: tls?.admin,
    tokens,
    faults,
    requests,
    server: () => stage.server(),
    revision: () => stage.store.snapshot().revision,
    snapshot: () => stage.store.snapshot(),
    fork: forkClock =>
      openCore(
        {
          options: { ...options, authentication: { ...options.authentication, tokens }, serving: onFreePort(options) },
          clock: forkClock,
          from: stage.store.snapshot(),
        },
        tls,
      ),
    async reset(to) {
      const before = stage
      // At a later revision than any that clients have seen, so that none of them resumes a watch.
      stage = createStage(createMemoryStore(to, before.store.snapshot().revision + 1), true)
      // Its watches have ended then. The rest of its stop, such as that of controllers, concerns only its own store.
      const ending = await before.end()
      await stopped
      stopped = ending.stopped
      stopped.catch(() => {}) // the next reset or the stop rejects with it
    },
    async stop() {
      await Promise.all([stopStage(), stopped])
      await listeners.close()
    },
  }
}

/** A server between two resets, on a store of its own. */
interface Stage {
  readonly store: MemoryStore
  server(): Promise<Server>
  handle(exchange: Exchange): void
  /** Ends the watches and begins the stop of the server. */
  end(): Promise<{ readonly stopped: Promise<void> }>
}

/** A fork listens where the first server does not. */
const onFreePort = ({ serving }: ServerOptions): ServerOptions['serving'] => ({
  ...serving,
  ...(serving.https && { https: { ...serving.https, port: 0 } }),
  ...(serving.http && { http: { port: 0 } }),
})
