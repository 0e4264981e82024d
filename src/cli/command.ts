// A command of the command line.

import type { Awaitable } from '../base/awaitable.js'

export interface Command {
  run(args: readonly string[]): Promise<void>
  /** What --help prints. Absent if the command has commands of its own, and answers --help itself. */
  readonly help?: (() => Awaitable<string>) | undefined
}
