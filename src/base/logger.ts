// The log as every room sees it. The server creates the one logger (server/observability/logging.ts) and passes it on;
// no other room writes to the console.

/** Facts of a log line by name. A field `error` that holds an Error is printed with its stack. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * - `error`: a bug or a lost resource; somebody has to look at it
 * - `warn`: something failed and is tried again or done without
 * - `info`: start, stop and other events of the server's life
 * - `debug`: everything else
 */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

export interface Logger {
  error(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  /** A logger that adds these fields to each line. */
  child(fields: LogFields): Logger
}

/** Writes nothing. */
export const NO_LOGGER: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => NO_LOGGER,
}

/** One line of a log, before it is printed. */
export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/** A logger that hands its lines to a function, for tests and for programs with a log of their own. */
export function createLogger(write: (line: LogLine) => void, fields: LogFields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, more?: LogFields): void =>
      write({ level, message, fields: more === undefined ? fields : { ...fields, ...more } })
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: more => createLogger(write, { ...fields, ...more }),
  }
}
