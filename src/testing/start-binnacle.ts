// Starts servers for tests.
import { refuseUnknownFields } from '../base/known-fields.js'
import { UsageError } from '../base/usage-error.js'
import { type BinnacleOptions, readLibraryOptions } from '../server/library.js'
import { createTestClock } from './clock.js'
import { type CoreOptions, startCore, type TestCore } from './core.js'
import { readSnapshot } from './snapshots.js'
import { createTestServer } from './test-server.js'
import type { TestServer } from './test-server-type.js'

export interface TestOptions extends Omit<BinnacleOptions, 'storage'> {
  /**
   * Where objects are kept: in memory, which is the default, or in a folder, in which a later server finds them. A folder is
   * created if it is missing, and has one server at a time.
   */
  readonly storage?: 'memory' | { readonly folder: string }
  /** `http` starts faster and needs no certificates; `https`, the default, is what clients expect. */
  readonly protocol?: 'https' | 'http'
  /** A file that `saveSnapshot` has written, whose objects the server begins with. */
  readonly snapshot?: string
}

/** Starts a server. A wrong option throws, with the right one named. */
export async function startBinnacle({
  protocol = 'https',
  snapshot,
  ...options
}: TestOptions = {}): Promise<TestServer> {
  if (protocol !== 'https' && protocol !== 'http') {
    throw new UsageError(`protocol: ${JSON.stringify(protocol)}: it must be "https" or "http"`)
  }
  checkStorage(options.storage)
  const read = readLibraryOptions(options, ['protocol', 'snapshot'])
  const serving = protocol === 'http' ? { http: { port: options.port ?? 0 } } : read.server.serving
  const from = snapshot === undefined ? undefined : await readSnapshot(snapshot)
  const clock = createTestClock()
  // The page of the console switches faults and moves the clock by the testing API.
  const servesTesting = options.console === true
  const core = await startPrepared({ options: { ...read.server, serving }, clock, from, servesTesting })
  return createTestServer(core, { token: read.token, clock })
}

function checkStorage(storage: unknown): void {
  if (storage === undefined || storage === 'memory') return
  const { folder, etcd } = (storage ?? {}) as { folder?: unknown; etcd?: unknown }
  if (etcd !== undefined) {
    throw new UsageError(
      "storage: a test server keeps its objects in memory or in a folder; startBinnacle of 'binnacle' has etcd, without copies and resets",
    )
  }
  if (typeof folder !== 'string' || folder === '') {
    throw new UsageError(`storage: ${JSON.stringify(storage)}: it must be "memory" or { folder: "path" }`)
  }
  refuseUnknownFields('storage', storage, ['folder'])
}

/** The nodes of simulated workloads are part of the state after the start. */
export async function startPrepared(options: CoreOptions): Promise<TestCore> {
  const core = await startCore(options)
  await (await (await core.server()).simulation)?.idle()
  return core
}
