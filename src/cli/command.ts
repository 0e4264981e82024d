// A command of the command line.

export interface Command {
  run(args: readonly string[]): Promise<void>
  /** What --help prints. Absent if the command has commands of its own, and answers --help itself. */
  readonly help?: (() => string) | undefined
}
