// What is logged, and in which format.
import type { LogLine } from '../../base/logger.js'
import type { FlagTable, FlagValues } from './flag.js'
import { choice, count } from './flag-values.js'

export interface LoggingOptions {
  /** 0 errors and the server's life, 1 also slow requests, 2 every request, 4 and more details for debugging. */
  readonly verbosity: number
  readonly format: 'text' | 'json'
  /** Receives each line in the place of stderr. */
  readonly write?: ((line: LogLine) => void) | undefined
  /** Log warnings and errors only. */
  readonly quiet?: boolean | undefined
}

export const DEFAULT_LOGGING: LoggingOptions = { verbosity: 1, format: 'text' }

export const loggingFlags = {
  v: count(
    'how much is logged: 0 errors, start and stop; 1 also requests that take longer than 1s; 2 every request; 4 details for debugging',
    DEFAULT_LOGGING.verbosity,
  ),
  'logging-format': choice<'text' | 'json'>(['text', 'json'], 'the format of the log on stderr', 'text'),
} satisfies FlagTable

export const loggingFromFlags = (flags: FlagValues<typeof loggingFlags>): LoggingOptions => ({
  verbosity: flags.v,
  format: flags['logging-format'] ?? DEFAULT_LOGGING.format,
})
