// The entry of the command line: finds the command, and prints errors.

import { packageVersion } from '../base/package-version.js'
import { type CommandTable, commandGroup, findCommand, isHelp, runCommand } from './command.js'

const COMMANDS: CommandTable = {
  async serve() {
    const [{ serve }, { fullServeHelp }] = await Promise.all([
      import('./serve/serve.js'),
      import('./serve/serve-flags.js'),
    ])
    return { run: serve, help: fullServeHelp }
  },
  up: async () => (await import('./background/up.js')).UP,
  down: async () => (await import('./background/down.js')).DOWN,
  status: async () => (await import('./background/status.js')).STATUS,
  balance: async () => (await import('./balance/balance.js')).BALANCE,
  cel: async () => (await import('./cel/cel.js')).CEL,
  console: async () => (await import('./console/console.js')).CONSOLE,
  diff: async () => (await import('./history/history.js')).DIFF,
  get: async () => (await import('./history/history.js')).GET,
  crd: async () => (await import('./crd/crd.js')).CRD,
  envtest: async () => (await import('./envtest/envtest.js')).ENVTEST,
  snapshot: async () => (await import('./snapshot/snapshot.js')).SNAPSHOT,
  validate: async () => (await import('./validate/validate.js')).VALIDATE,
  'webhook-certs': async () => (await import('./webhook-certs/webhook-certs.js')).WEBHOOK_CERTS,
  completion: async () => (await import('./completion/completion.js')).completionCommand(PROGRAM),
  man: async () => (await import('./man/man.js')).manCommand(PROGRAM),
}

const HELP = `Binnacle: the Kubernetes API without the cluster.

Usage: binnacle <command> [flags]

Commands:
  serve          serve the API; also without a command
  console        print a link that signs in to the web console of a server
  up             start a server in the background, for kubectl
  down           stop it
  status         say whether a server is ready
  snapshot       save the objects of a server to a file, and restore them
  balance        forward connections to replicas that are ready
  envtest        make Go tests that use envtest run on Binnacle
  validate       say what the server would answer to manifests, without a server
  crd            lint, test, plan, and types: for authors of CustomResourceDefinitions
  cel            evaluate expressions, and explain the costs of validation rules and admission policies
  diff --history show what changed in an object of a server, when, and by which manager
  get --at       print an object of a server as it was
  webhook-certs  create certificates for webhooks on this machine, and configurations that trust them

  completion     print what makes a shell complete the commands and flags
  man            print the manual page

binnacle <command> --help shows the flags of a command.
`

/** All commands, for those that describe them. */
const PROGRAM = commandGroup('', COMMANDS, HELP)

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await run(argv.slice(2))
  } catch (error) {
    if (!isExpected(error)) throw error
    console.error(`binnacle: ${oneLine(error)}`)
    process.exitCode = 1
  }
}

async function run([first = 'serve', ...rest]: readonly string[]): Promise<void> {
  if (isHelp(first) || first === 'help') return void process.stdout.write(HELP)
  if (first === '--version') return console.log(`binnacle ${packageVersion()}`)
  const isFlag = first.startsWith('-')
  const command = await findCommand(COMMANDS, isFlag ? 'serve' : first)
  await runCommand(command, isFlag ? [first, ...rest] : rest)
}

/** Errors that the user can correct are printed in one line without a stack: usage, storage and system errors. */
const isExpected = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'

function oneLine(error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }): string {
  const where = error.port === undefined ? '' : `${error.address ?? ''}:${error.port}`
  switch (where === '' ? '' : error.code) {
    case 'EADDRINUSE':
      return `port ${error.port} of ${error.address} is in use; stop the program that uses it, or choose another port (0 takes any free one)`
    case 'EACCES':
      return `port ${error.port} is not allowed for this user; ports from 1024 on are`
    case 'EADDRNOTAVAIL':
      return `${error.address} is not an address of this machine; --bind-address=0.0.0.0 listens on all its addresses`
    default:
      return error.message.replaceAll('\n', ' ')
  }
}
