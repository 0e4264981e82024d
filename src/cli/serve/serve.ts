// `binnacle serve`: reads the flags, starts the server, and stops it on a signal.
import { type Access, mergeKubeconfig, writeKubeconfig } from '../../server/kubeconfig.js'
import type { Server } from '../../server/server.js'
import { openBrowser } from '../console/open-browser.js'
import { readServeOptions, type ServePlan } from './serve-options.js'
import { listenForSignals } from './signals.js'
import { stopWithStdin } from './stop-with-starter.js'

export async function serve(args: readonly string[]): Promise<void> {
  const plan = readServeOptions(args)
  for (const warning of plan.warnings) console.error(`binnacle: ${warning}`)
  const signals = listenForSignals()
  if (plan.stopsWithStdin) stopWithStdin()
  // A bug in the background must not end the service for all clients.
  process.on('unhandledRejection', error => console.error('binnacle: an error in the background:', error))
  let server: Server
  try {
    server = await startPlanned(plan, signals.abort)
  } catch (error) {
    // What a start has opened is closed by now. A connection that is still being made must not delay the exit.
    if (signals.abort.aborted) process.exit(signals.exitCode)
    throw error
  }
  try {
    await writeAccess(plan, server.access)
    const link = server.consoleLink?.()
    process.stdout.write(greeting(plan, server, link))
    if (plan.open && link !== undefined) openBrowser(link)
    await signals.first
  } finally {
    await server.stop()
  }
}

/** The server is loaded only here: a wrong flag or --help does not need it. */
async function startPlanned({ server, testing, token }: ServePlan, signal: AbortSignal): Promise<Server> {
  if (!testing) return (await import('../../server/server.js')).startServer(server, signal)
  return (await import('../../testing/serve-testing.js')).startTestingServer(server, token!, signal)
}

async function writeAccess({ kubeconfig, mergeInto, token }: ServePlan, access: Access): Promise<void> {
  await unlessFull(kubeconfig, () => writeKubeconfig(kubeconfig, { ...access, token }))
  if (mergeInto !== undefined) await unlessFull(mergeInto, () => mergeKubeconfig(mergeInto, { ...access, token }))
}

/** A server on a full disk must start, because the disk is emptied through its API. */
async function unlessFull(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    console.error(`binnacle: no space left to write ${file}: it is as it was before`)
  }
}

/** Programs look for `ready at <url>,` in the first line. */
function greeting(
  { kubeconfig, mergeInto, storedWhere }: ServePlan,
  { url, httpUrl }: Server,
  consoleLink: string | undefined,
): string {
  const kubectl = mergeInto === undefined ? `kubectl --kubeconfig=${kubeconfig}` : 'kubectl'
  const lines = [
    `Binnacle is ready at ${url}, keeping objects ${storedWhere}.`,
    ...(httpUrl === undefined || httpUrl === url ? [] : [`Plain http is at ${httpUrl}.`]),
    `Try it:  ${kubectl} get namespaces`,
    ...(consoleLink === undefined ? [] : [`Console: ${consoleLink} (signs in once, within 10 minutes)`]),
    'Stop it: Ctrl+C',
  ]
  return `${lines.join('\n')}\n`
}
