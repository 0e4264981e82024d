// `binnacle cel …`: expressions, and the costs of rules.
import { type Command, type CommandTable, commandGroup } from '../command.js'
import { withUsageErrors } from '../report/report.js'
import { EVAL_HELP, evaluate, repl } from './cel-eval.js'
import { CEL_HELP, cel } from './cel-explain.js'

const COMMANDS: CommandTable = {
  eval: async () => ({ run: evaluate, help: () => EVAL_HELP }),
  repl: async () => ({ run: repl, help: () => EVAL_HELP }),
  explain: async () => ({ run: args => cel(['explain', ...args]), help: () => CEL_HELP }),
}

const GROUP = commandGroup('cel', COMMANDS, `${EVAL_HELP}\n${CEL_HELP}`)

export const CEL: Command = { ...GROUP, run: args => withUsageErrors(() => GROUP.run(args)) }
