// `binnacle serve`: flags to options, start, stop on a signal.
import { type Access, mergeKubeconfig, writeKubeconfig } from '../../server/kubeconfig.js'
import { readServeOptions, type ServePlan } from './serve-options.js'

export async function serve(args: readonly string[]): Promise<void> {
  const plan = readServeOptions(args)
  for (const warning of plan.warnings) console.error(`binnacle: ${warning}`)
  // All of the server is loaded only now that there is something to start.
  const { startServer } = await import('../../server/server.js')
  const server = await startServer(plan.server)
  // A fault of ours in the background is told, and everybody else is served as if nothing had happened.
  process.on('unhandledRejection', error => console.error('binnacle: something went wrong in the background:', error))
  try {
    await writeAccess(plan, server.access)
    // Whoever hears that it is ready may send the signal at once.
    const signal = nextSignal()
    process.stdout.write(greeting(plan, server))
    await signal
    onNextSignal(code => process.exit(code))
  } finally {
    await server.stop()
  }
}

interface Started {
  readonly url: string
  readonly httpUrl: string | undefined
}

async function writeAccess({ kubeconfig, mergeInto, token }: ServePlan, access: Access): Promise<void> {
  await writeKubeconfig(kubeconfig, { ...access, token })
  if (mergeInto !== undefined) await mergeKubeconfig(mergeInto, { ...access, token })
}

/** The first line is also for programs: they look for `ready at <url>,`. */
function greeting({ kubeconfig, mergeInto, storedWhere }: ServePlan, { url, httpUrl }: Started): string {
  const kubectl = mergeInto === undefined ? `kubectl --kubeconfig=${kubeconfig}` : 'kubectl'
  const lines = [
    `Binnacle is ready at ${url}, keeping objects ${storedWhere}.`,
    ...(httpUrl === undefined || httpUrl === url ? [] : [`Plain http is at ${httpUrl}.`]),
    `Try it:  ${kubectl} get namespaces`,
    'Stop it: Ctrl+C',
  ]
  return `${lines.join('\n')}\n`
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

function onNextSignal(heard: (code: number) => void): void {
  for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => heard(code))
}

const nextSignal = (): Promise<number> => new Promise(onNextSignal)
