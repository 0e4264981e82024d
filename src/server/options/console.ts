// The console.
import type { Sessions } from '../../console/sessions.js'
import type { FlagTable } from './flag.js'
import { toggle } from './flag-values.js'

export interface ConsoleOptions {
  /** They outlive a server that is replaced by another one behind the same address. */
  readonly sessions: Sessions
  /** The folder with the built page; that of the package when absent. */
  readonly pageFolder?: string | undefined
}

export const consoleFlags = {
  console: toggle('serve the console, a web page, at /console/', true),
} satisfies FlagTable
