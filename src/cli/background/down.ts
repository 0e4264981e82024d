// `binnacle down`: stops the server that `binnacle up` started.
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../../base/usage-error.js'
import { removeFromKubeconfig } from '../../server/kubeconfig.js'
import type { Command } from '../command.js'
import { parseFlags, printFlags } from '../flags/flags.js'
import { usersKubeconfig } from '../serve/serve-options.js'
import { findBackgroundServer, forgetBackgroundServer, isRunning } from './background-server.js'
import { dataDirFlags } from './data-dir.js'

const HELP = `Usage: binnacle down [flags]

Stops the server that binnacle up started, and takes it out of your kubeconfig. Objects stay in the data folder.

Flags:
${printFlags(dataDirFlags)}
`

export const DOWN: Command = { run: down, help: () => HELP }

const POLL_MS = 20
const STOP_MS = 60_000

async function down(args: readonly string[]): Promise<void> {
  const dataDir = parseFlags(args, dataDirFlags).values['data-dir']
  const server = findBackgroundServer(dataDir)
  if (server) {
    process.kill(server.pid, 'SIGTERM')
    for (const deadline = Date.now() + STOP_MS; isRunning(server); await delay(POLL_MS)) {
      if (Date.now() > deadline)
        throw new UsageError(`process ${server.pid} has not ended within ${STOP_MS / 1000} seconds`)
    }
    await removeFromKubeconfig(usersKubeconfig(), server.url)
  }
  forgetBackgroundServer(dataDir)
  console.log(
    server ? `Binnacle at ${server.url} is stopped.` : `No server is running in the background for ${dataDir}.`,
  )
}
