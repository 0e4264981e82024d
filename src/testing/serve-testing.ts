// `binnacle serve --testing`: a server with the testing API, for tests in other processes and languages.
import type { ServerOptions } from '../server/options.js'
import type { Server } from '../server/server.js'
import { createTestClock } from './clock.js'
import { startPrepared } from './start-binnacle.js'
import { createTestServer } from './test-server.js'

/** `token` is one of an administrator, for the kubeconfigs of copies. */
export async function startTestingServer(options: ServerOptions, token: string, signal: AbortSignal): Promise<Server> {
  const clock = createTestClock()
  const core = await startPrepared({ options, clock, signal, servesTesting: true, keepsAlive: true })
  const { stop } = createTestServer(core, { token, clock })
  return { ...(await core.server()), stop }
}
