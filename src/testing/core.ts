// The server behind a test server. A fork and a reset begin with the objects of a snapshot and with listeners alone, so that
// they cost the same whatever the server holds: the server behind them starts with the first request.
import type { Identity } from '../auth/authenticator.js'
import { type Awaitable, andThen } from '../base/awaitable.js'
import { once } from '../base/memo.js'
import type { Exchange } from '../http/exchange.js'
import type { PathRequest, PathTable } from '../http/pages.js'
import type { KeyPair } from '../server/kubeconfig.js'
import type { ServerOptions } from '../server/options.js'
import { clientUrl, openSharedListeners, prepareServerTls, type Server, startServer } from '../server/server.js'
import type { Tls } from '../server/tls.js'
import type { TestClock } from './clock.js'
import { createFaults, type FaultInjector } from './faults/faults.js'
import { faultyVerbs } from './faults/faulty-verbs.js'
import { callWebhook } from './faults/faulty-webhooks.js'
import { createExchangeLog, type ExchangeLog } from './record/exchange-log.js'
import { createRequestLog, type WritableRequestLog } from './request-log.js'
import type { Snapshot } from './snapshots.js'
import { type TestStore, testStorageOf } from './storage.js'
import { TESTING_PATH } from './testing-path.js'

export interface TestCore {
  readonly url: string
  readonly ca: string
  readonly client: KeyPair | undefined
  readonly tokens: Map<string, Identity>
  readonly faults: FaultInjector
  readonly requests: WritableRequestLog
  readonly exchanges: ExchangeLog
  /** Whether programs in other processes use it, too, by `answerTesting`. */
  readonly servesTesting: boolean
  /** Says how requests to the testing API are answered. */
  answerTesting(answer: (request: PathRequest) => Promise<void>): void
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
  /** Whether the testing API is served, here and by copies. */
  readonly servesTesting?: boolean | undefined
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
  { options, clock, from, servesTesting = false, signal, keepsAlive = false }: CoreOptions,
  tls: Tls | undefined,
): Promise<TestCore> {
  const faults = createFaults(clock.now)
  const requests = createRequestLog()
  const exchanges = createExchangeLog()
  const tokens = new Map(options.authentication.tokens)
  let answerTesting: ((request: PathRequest) => Promise<void>) | undefined
  const paths: PathTable | undefined = servesTesting
    ? new Map([[`${TESTING_PATH}/*`, (request: PathRequest) => answerTesting?.(request)]])
    : undefined
  const storage = testStorageOf(options.storage)
  let store = await storage.open(from)
  const listeners = await openSharedListeners(
    options,
    tls,
    exchange => stage.handle(exchanges.follow(exchange)),
    keepsAlive,
  ).catch(async (error: unknown) => {
    await store.close()
    throw error
  })

  function createStage(opening: Awaitable<TestStore>, isBootstrapped: boolean): Stage {
    let handle: Stage['handle'] | undefined
    const optionsOn = (opened: TestStore): ServerOptions => ({
      ...options,
      authentication: { ...options.authentication, tokens },
      storage: storage.optionsOf(opened),
      clock,
      hooks: {
        listeners: { ...listeners, receive: ready => void (handle = ready) },
        isBootstrapped,
        observe(request, status, milliseconds) {
          exchanges.observe(request)
          requests.add(request, status, milliseconds)
        },
        beforeWebhookCall: host => callWebhook(host, faults),
        wrapVerbs: verbs => faultyVerbs(verbs, faults, () => opened.revision()),
        paths,
      },
    })
    let isNeeded = false
    const start = once(async () => startServer(optionsOn(await opening), signal))
    const server = (): Promise<Server> => {
      isNeeded = true
      return start()
    }
    return {
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
        return { stopped: started ? started.stop() : closeUnused(opening) }
      },
    }
  }

  const stopStage = async (): Promise<void> => (await stage.end()).stopped
  /** The stop of the server before the last reset. */
  let stopped: Promise<void> = Promise.resolve()

  let stage = createStage(store, from !== undefined)
  /** What the server held at its stop, for reports after it. */
  let last: Snapshot | undefined
  return {
    url: clientUrl(listeners.url),
    ca: listeners.httpsUrl && tls ? tls.ca : '',
    client: tls?.admin,
    tokens,
    faults,
    requests,
    exchanges,
    servesTesting,
    answerTesting: answer => void (answerTesting = answer),
    server: () => stage.server(),
    revision: () => store.snapshot().revision,
    snapshot: () => last ?? store.snapshot(),
    fork: forkClock =>
      openCore(
        {
          options: {
            ...options,
            storage: { kind: 'memory' },
            authentication: { ...options.authentication, tokens },
            serving: onFreePort(options),
          },
          clock: forkClock,
          from: store.snapshot(),
          servesTesting,
        },
        tls,
      ),
    async reset(to) {
      const end = once(stage.end)
      const opening = storage.reopen(to, store, async () => (await end()).stopped)
      // Requests wait for it from now on.
      stage = createStage(opening, true)
      await andThen(opening, opened => void (store = opened))
      // Its watches have ended then. The rest of its stop, such as that of controllers, concerns only its own store.
      const ending = await end()
      await stopped
      stopped = ending.stopped
      stopped.catch(() => {}) // the next reset or the stop rejects with it
    },
    async stop() {
      last ??= store.snapshot()
      await Promise.all([stopStage(), stopped])
      await listeners.close()
    },
  }
}

/** A server between two resets, on a store of its own. */
interface Stage {
  server(): Promise<Server>
  handle(exchange: Exchange): void
  /** Ends the watches and begins the stop of the server. */
  end(): Promise<{ readonly stopped: Promise<void> }>
}

/** The store of a server that was never started, if it could be opened. */
async function closeUnused(opening: Awaitable<TestStore>): Promise<void> {
  const opened = await Promise.resolve(opening).catch(() => undefined)
  await opened?.close()
}

/** A fork listens where the first server does not. */
const onFreePort = ({ serving }: ServerOptions): ServerOptions['serving'] => ({
  ...serving,
  ...(serving.https && { https: { ...serving.https, port: 0 } }),
  ...(serving.http && { http: { port: 0 } }),
})
