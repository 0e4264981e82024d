// `binnacle crd …`: finds the command.
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { Command } from '../command.js'
import { withUsageErrors } from '../report/report.js'

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  plan: async () => (await import('./crd-plan.js')).PLAN,
  types: async () => (await import('./crd-types.js')).TYPES,
  convert: async () => (await import('./crd-convert.js')).CONVERT,
  'conversion-webhook': async () => (await import('./crd-conversion-webhook.js')).CONVERSION_WEBHOOK,
  test: async () => (await import('./crd-test.js')).TEST,
  lint: async () => (await import('./crd-lint.js')).LINT,
}

const HELP = `Usage: binnacle crd COMMAND [flags]

Commands for authors of CustomResourceDefinitions:
  plan    say what a change of a definition means, also for stored objects, and carry it out
  types   print TypeScript types and clients, or JSON Schemas for editors
  convert convert objects by a description in the definition, and check the description
  conversion-webhook
          serve such descriptions to a cluster
  test    run cases that are kept beside a definition, with coverage of its checks
  lint    find what is allowed in a definition and yet not good for its users

binnacle crd COMMAND --help shows the flags of a command.
`

export const CRD: Command = { run: args => withUsageErrors(() => run(args)) }

const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h'

async function run([name, ...rest]: readonly string[]): Promise<void> {
  if (name === undefined || isHelp(name)) return void process.stdout.write(HELP)
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!load) {
    const near = nearest(name, Object.keys(COMMANDS))
    const hint = near === undefined ? 'binnacle crd --help shows all commands' : `did you mean ${near}?`
    throw new UsageError(`there is no command crd ${name}: ${hint}`)
  }
  const command = await load()
  if (rest.some(isHelp)) return void process.stdout.write(await command.help!())
  await command.run(rest)
}
