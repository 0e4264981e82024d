// What a test does with its server.
import type { KeyPair } from '../server/kubeconfig.js'
import type { SimulatedPods } from '../workloads/start-workloads.js'
import type { Client } from './client.js'
import type { TestClock } from './clock.js'
import type { Faults } from './faults/faults.js'
import type { Fetch } from './fetch.js'
import type { TestObjects } from './objects.js'
import type { RecordedExchange } from './record/exchange-log.js'
import type { TestContext } from './record/failed-test.js'
import type { Recording } from './record/recording.js'
import type { Replay, ReplayOptions } from './record/replay.js'
import type { RequestLog } from './request-log.js'
import type { TestUsers } from './users.js'
import type { WatchEvent } from './watch.js'

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
