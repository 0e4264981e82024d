// `binnacle crd …`: the commands for authors of definitions.
import { type Command, type CommandTable, commandGroup } from '../command.js'
import { withUsageErrors } from '../report/report.js'

const COMMANDS: CommandTable = {
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

const GROUP = commandGroup('crd', COMMANDS, HELP)

export const CRD: Command = { ...GROUP, run: args => withUsageErrors(() => GROUP.run(args)) }
