// A server for tests: in this process, with a clock, faults, a log of requests, and copies of itself.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../base/usage-error.js'
import type { Registry } from '../kinds/registry.js'
import { type KeyPair, printKubeconfig } from '../server/kubeconfig.js'
import type { SimulatedPods, Simulation } from '../workloads/start-workloads.js'
import { type Client, createClient } from './client.js'
import type { TestClock } from './clock.js'
import type { TestCore } from './core.js'
import { type Faults } from './faults/faults.js'
import { createFetch, type Fetch } from './fetch.js'
import { createTestingApi, type TestingApi } from './http-api.js'
import type { KubernetesObject } from './kinds.js'
import { createTestObjects, type TestObjects } from './objects.js'
import { makeOwnFolder, type OwnFolder } from './own-folder.js'
import type { RecordedExchange } from './record/exchange-log.js'
import { printIfFailed, type TestContext } from './record/failed-test.js'
import { readRecord } from './record/record-file.js'
import { type Recording, startFullRecording, startRecording, withReport } from './record/recording.js'
import { type Replay, type ReplayOptions, replay } from './record/replay.js'
import { type RequestLog } from './request-log.js'
import { type Snapshot, writeSnapshot } from './snapshots.js'
import { createTestUsers, type TestUsers } from './users.js'
import { openWatch, type WatchEvent } from './watch.js'

export interface TestServer extends TestObjects, AsyncDisposable {
  readonly url: string
  /** PEM; empty for plain http. */
  readonly ca: string
  /** The administrator's bearer token. */
  readonly token: string
  /** The administrator's certificate and key, PEM; undefined for plain http. */
  readonly clientCertificate: KeyPair | undefined
  /** Requests of the test by apiVersion and kind, typed, as the administrator. */
  readonly client: Client
  /** The administrator's kubeconfig as text, and as a file that is removed by `stop`. */
  readonly kubeconfig: string
  kubeconfigFile(): Promise<string>
  /** As the global `fetch`, for paths of this server, as the administrator. */
  readonly fetch: Fetch
  readonly users: TestUsers
  readonly clock: TestClock
  readonly faults: Faults
  /** A link that signs the administrator in to the console once. Only with the option `console`. */
  consoleLink(): Promise<string>
  /** What simulated pods do on request. Only with the option `workloads`. */
  readonly pods: SimulatedPods
  /** Resolves when the simulated workloads have nothing to do until the clock moves or something is written. */
  idle(): Promise<void>
  /** The requests so far, those of the test itself included. */
  readonly requests: RequestLog
  /** Records requests and changes of objects from now on, for reports on a failed test and for a replay. */
  record(): Recording
  /**
   * Sends the requests of a record to this server, each as its user, and compares the answers. The record is a recording of any
   * server, its exchanges, or the file to which it was saved.
   */
  replay(
    record: Pick<Recording, 'exchanges'> | readonly RecordedExchange[] | string,
    options?: ReplayOptions,
  ): Promise<Replay>
  /** Runs a test, and adds the report of its recording to the error if it fails. */
  recorded<T>(work: () => Promise<T>): Promise<T>
  /** Records from now on, and prints the report if the test fails: with the context of a test in Vitest or node:test. */
  reportFailure(test: TestContext): void
  /** The events of all objects of a resource, from now on: `server.events('/api/v1/pods')`. Ends with the loop. */
  events(path: string): AsyncGenerator<WatchEvent>

  /** An independent copy, on another port, with the same objects and users. It costs the same whatever the server holds. */
  fork(): Promise<TestServer>
  /** The resourceVersion of the latest write. */
  resourceVersion(): string
  /** Remembers the objects under a name, for `reset`. */
  snapshot(name: string): void
  /**
   * Goes back to the objects of a snapshot, or to those after the start. Address and users stay. Open watches end; one that
   * is resumed is answered 410, so that clients list again.
   */
  reset(name?: string): Promise<void>
  saveSnapshot(file: string): Promise<void>
  /** Ends all watches and forgets the history of writes: earlier resourceVersions are answered 410. */
  compactHistory(): Promise<void>
  stop(): Promise<void>
}

export interface Setup {
  readonly token: string
  readonly clock: TestClock
}

export function createTestServer(core: TestCore, { token, clock }: Setup): TestServer {
  const snapshots = new Map<string, Snapshot>()
  const started = core.snapshot()
  const { url, ca } = core
  const access = { url, ca, token }
  const fetch = createFetch(access)
  const registry = async (): Promise<Registry> => (await core.server()).registry
  let folder: Promise<OwnFolder> | undefined
  let api: TestingApi | undefined
  const stop = async (): Promise<void> => {
    await api?.stop()
    await core.stop()
    await (await folder)?.remove()
  }
  const simulation = async (): Promise<Simulation> => {
    const running = await (await core.server()).simulation
    if (!running) throw new UsageError('nothing is simulated: start the server with the option workloads')
    return running
  }
  const kubeconfig = printKubeconfig({ server: url, ...(ca !== '' && { ca }), token })
  const server: TestServer = {
    ...createTestObjects(fetch, registry),
    url,
    ca,
    token,
    clientCertificate: core.client,
    client: createClient(fetch, registry),
    kubeconfig,
    async kubeconfigFile() {
      folder ??= makeOwnFolder()
      const file = join((await folder).path, 'kubeconfig')
      await writeFile(file, kubeconfig, { mode: 0o600 })
      return file
    },
    fetch,
    users: createTestUsers(core.tokens, () => access, registry),
    clock,
    faults: core.faults,
    async consoleLink() {
      const { consoleLink } = await core.server()
      if (!consoleLink) throw new UsageError('the console is not served: start the server with { console: true }')
      return consoleLink()
    },
    pods: {
      fail: async (pod, failure) => (await simulation()).pods.fail(pod, failure),
      complete: async pod => (await simulation()).pods.complete(pod),
      evict: async pod => (await simulation()).pods.evict(pod),
      setReady: async (pod, isReady) => (await simulation()).pods.setReady(pod, isReady),
    },
    idle: async () => (await simulation()).idle(),
    requests: core.requests,
    record: () => startFullRecording(core),
    recorded: work => withReport(startRecording(core), work),
    reportFailure: test => printIfFailed(test, startRecording(core)),
    async replay(record, options) {
      const kept =
        typeof record === 'string' ? await readRecord(record) : 'exchanges' in record ? record.exchanges : record
      return replay(kept, { url, ca, tokens: core.tokens, resourceVersion: () => String(core.revision()) }, options)
    },
    async *events(path) {
      const at = `${path}${path.includes('?') ? '&' : '?'}watch=true&resourceVersion=${core.revision()}`
      yield* await openWatch<KubernetesObject>(fetch, at)
    },
    async fork() {
      const copy = clock.copy()
      return createTestServer(await core.fork(copy), { token, clock: copy })
    },
    resourceVersion: () => String(core.revision()),
    snapshot: name => void snapshots.set(name, core.snapshot()),
    async reset(name) {
      const wanted = name === undefined ? started : snapshots.get(name)
      if (!wanted)
        throw new UsageError(`there is no snapshot ${name}: there are ${[...snapshots.keys()].join(', ') || 'none'}`)
      await core.reset(wanted)
    },
    saveSnapshot: file => writeSnapshot(file, core.snapshot()),
    compactHistory: () => core.reset(core.snapshot()),
    stop,
    [Symbol.asyncDispose]: stop,
  }
  if (core.servesTesting) {
    api = createTestingApi(server, () => startRecording(core))
    core.answerTesting(api.handle)
  }
  return server
}
