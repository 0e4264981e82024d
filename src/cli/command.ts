// A command of the command line, and groups of commands.
import type { Awaitable } from '../base/awaitable.js'
import { nearest } from '../base/nearest.js'
import { UsageError } from '../base/usage-error.js'

export interface Command {
  run(args: readonly string[]): Promise<void>
  /** What --help prints. */
  readonly help: () => Awaitable<string>
  /** The commands of a group. */
  readonly commands?: CommandTable | undefined
  /** Words that may follow the command, for completion in a shell. */
  readonly words?: readonly string[] | undefined
}

/** Each is loaded when it is called, so that none makes the start of another slower. */
export type CommandTable = Readonly<Record<string, () => Promise<Command>>>

/** `binnacle <name> COMMAND`. Without a command it prints its help. */
export function commandGroup(name: string, commands: CommandTable, help: string): Command {
  return {
    help: () => help,
    commands,
    async run([first, ...rest]) {
      if (first === undefined) return void process.stdout.write(help)
      await runCommand(await findCommand(commands, first, `${name} `), rest)
    },
  }
}

/** `prefix`: the commands before it, for the message if there is no such command. */
export async function findCommand(commands: CommandTable, name: string, prefix = ''): Promise<Command> {
  if (Object.hasOwn(commands, name)) return commands[name]!()
  const near = nearest(name, Object.keys(commands))
  const hint = near === undefined ? `binnacle ${prefix}--help shows all commands` : `did you mean ${near}?`
  throw new UsageError(`there is no command ${prefix}${name}: ${hint}`)
}

/** Runs a command, or prints its help. A group passes `--help` behind the name of a command on to that command. */
export async function runCommand(command: Command, args: readonly string[]): Promise<void> {
  const asksForHelp = command.commands ? args[0] !== undefined && isHelp(args[0]) : args.some(isHelp)
  if (asksForHelp) process.stdout.write(await command.help())
  else await command.run(args)
}

export const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h'
