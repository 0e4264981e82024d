// `binnacle serve --testing`: a server with the testing API, for tests in other processes and languages.
import type { ServerOptions } from '../server/options.js'
import type { Server } from '../server/server.js'
import { createTestClock } from './clock.js'
import { startCore } from './core.js'
import { createTestingApi, TESTING_PATH, type TestingApi } from './http-api.js'
import { createTestServer } from './test-server.js'

/** `token` is one of an administrator, for the kubeconfigs of copies. */
export async function startTestingServer(options: ServerOptions, token: string, signal: AbortSignal): Promise<Server> {
  const clock = createTestClock()
  let api: TestingApi | undefined
  const core = await startCore({
    options,
    clock,
    signal,
    keepsAlive: true,
    paths: new Map([[`${TESTING_PATH}/*`, request => api?.handle(request)]]),
  })
  const testServer = createTestServer(core, { token, clock })
  api = createTestingApi(testServer)
  return {
    ...(await core.server()),
    async stop() {
      await api.stop()
      await testServer.stop()
    },
  }
}
