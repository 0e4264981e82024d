// `binnacle cel …`: finds the command.
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { Command } from '../command.js'
import { withUsageErrors } from '../report/report.js'
import { EVAL_HELP, evaluate, repl } from './cel-eval.js'
import { CEL_HELP, cel } from './cel-explain.js'

export const CEL: Command = { run: args => withUsageErrors(() => run(args)) }

const isHelp = (arg: string | undefined): boolean => arg === '--help' || arg === '-h'

async function run(args: readonly string[]): Promise<void> {
  const [name, ...rest] = args
  if (name === undefined || isHelp(name)) return void process.stdout.write(`${EVAL_HELP}\n${CEL_HELP}`)
  if (rest.some(isHelp)) return void process.stdout.write(name === 'explain' ? CEL_HELP : EVAL_HELP)
  if (name === 'explain') return cel(args)
  if (name === 'eval') return evaluate(rest)
  if (name === 'repl') return repl(rest)
  const near = nearest(name, ['eval', 'explain', 'repl'])
  throw new UsageError(
    `there is no command cel ${name}: ${near === undefined ? 'there are eval, explain and repl' : `did you mean ${near}?`}`,
  )
}
