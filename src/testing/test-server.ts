// A server for tests: in this process, with a clock, faults, a log of requests, and copies of itself.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../base/usage-error.js'
import type { Registry } from '../kinds/registry.js'
import { printKubeconfig } from '../server/kubeconfig.js'
import type { Simulation } from '../workloads/start-workloads.js'
import { createClient } from './client.js'
import type { TestClock } from './clock.js'
import type { TestCore } from './core.js'
import { createFetch } from './fetch.js'
import { createTestingApi, type TestingApi } from './http-api.js'
import type { KubernetesObject } from './kinds.js'
import { createTestObjects } from './objects.js'
import { makeOwnFolder, type OwnFolder } from './own-folder.js'
import { printIfFailed } from './record/failed-test.js'
import { readRecord } from './record/record-file.js'
import { startFullRecording, startRecording, withReport } from './record/recording.js'
import { replay } from './record/replay.js'
import { type Snapshot, writeSnapshot } from './snapshots.js'
import type { TestServer } from './test-server-type.js'
import { createTestUsers } from './users.js'
import { openWatch } from './watch.js'

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
