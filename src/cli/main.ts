// The command line: `binnacle serve`.
import { Command } from 'commander'
import { addServeCommand } from './serve.js'

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('binnacle')
    .description('The Kubernetes API without the cluster.')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
  addServeCommand(program)
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (!isExpected(error)) throw error
    console.error(`binnacle: ${error.message}`)
    process.exitCode = 1
  }
}

/** Errors that the user can mend, and that need no stack to be understood: storage's own and the system's. */
const isExpected = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
