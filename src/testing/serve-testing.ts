// `binnacle serve --testing`: a server with the testing API, for tests in other processes and languages.
import type { ServerOptions } from '../server/options.js'
import type { Server } from '../server/server.js'
import { createTestClock } from './clock.js'
import { startWithTestingApi } from './start-binnacle.js'

/** `token` is one of an administrator, for the kubeconfigs of copies. */
export async function startTestingServer(options: ServerOptions, token: string, signal: AbortSignal): Promise<Server> {
  const { core, server } = await startWithTestingApi(
    { options, clock: createTestClock(), signal, keepsAlive: true },
    token,
  )
  return { ...(await core.server()), stop: server.stop }
}
