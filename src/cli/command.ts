// A command of the command line.

export interface Command {
  run(args: readonly string[]): Promise<void>
  /** What --help prints; `args` name a command of the command, if there are several. */
  help(args: readonly string[]): string
}
