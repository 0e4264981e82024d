// The command line: which command is meant, and how errors are told.

import { nearest } from '../base/nearest.js'
import { packageVersion } from '../base/package-version.js'
import { UsageError } from '../base/usage-error.js'
import { CEL_HELP, cel } from './cel/cel-explain.js'
import { serve } from './serve/serve.js'
import { serveHelp } from './serve/serve-flags.js'

type Command = (args: readonly string[]) => Promise<void>

const COMMANDS: Readonly<Record<string, Command>> = { cel, serve }
const HELP_OF = new Map<Command, () => string>([
  [cel, () => CEL_HELP],
  [serve, serveHelp],
])

const HELP = `Binnacle: the Kubernetes API without the cluster.

Usage: binnacle <command> [flags]

Commands:
  serve          serve the API; this is what is done when no command is given
  cel explain    explain what validation rules cost, and what they say of an object

binnacle <command> --help shows the flags of a command.
`

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
  const command = isFlag ? serve : Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined
  if (!command) throw new UsageError(`there is no command ${JSON.stringify(first)}: ${hint(first)}`)
  if (rest.some(isHelp)) return void process.stdout.write(HELP_OF.get(command)!())
  await command(isFlag ? [first, ...rest] : rest)
}

const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h'

function hint(word: string): string {
  const near = nearest(word, Object.keys(COMMANDS))
  return near === undefined ? 'binnacle --help shows all commands' : `did you mean ${near}?`
}

/** Errors that the user can mend, and that need no stack to be understood: ours, storage's and the system's. */
const isExpected = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'

function oneLine(error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }): string {
  const where = error.port === undefined ? '' : `${error.address ?? ''}:${error.port}`
  switch (where === '' ? '' : error.code) {
    case 'EADDRINUSE':
      return `port ${error.port} of ${error.address} is in use; stop who has it, or take another port (0 takes any free one)`
    case 'EACCES':
      return `port ${error.port} may not be taken by this user; ports from 1024 on may`
    case 'EADDRNOTAVAIL':
      return `${error.address} is not an address of this machine; --bind-address=0.0.0.0 listens on all that are`
    default:
      return error.message.replaceAll('\n', ' ')
  }
}
