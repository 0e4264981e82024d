// The log of a server on stderr: lines of text, or of JSON by pino, which is loaded only then.
import { createLogger, type Logger, type LogLevel, type LogLine } from '../../base/logger.js'
import type { LoggingOptions } from '../options/logging.js'
import type { Verbosity } from './verbosity.js'

/** From this verbosity on, details for debugging are logged. */
const DEBUG_VERBOSITY = 4

export async function createServerLogger(options: LoggingOptions, verbosity: Verbosity): Promise<Logger> {
  const write = options.write ?? (options.format === 'json' ? await jsonWriter() : writeText)
  const isLogged = levelFilter(options, verbosity)
  return createLogger(line => {
    if (isLogged(line.level)) write(line)
  })
}

function levelFilter({ quiet }: LoggingOptions, verbosity: Verbosity): (level: LogLevel) => boolean {
  const shown = new Set<LogLevel>(['error', 'warn'])
  if (!quiet) shown.add('info')
  return level => (level === 'debug' ? verbosity.level >= DEBUG_VERBOSITY : shown.has(level))
}

function writeText(line: LogLine): void {
  process.stderr.write(`${printLine(line, new Date())}\n`)
}

/** `2026-01-02T03:04:05.678Z WARN  message key=value`, and the stack of an error on further lines. */
export function printLine({ level, message, fields }: LogLine, now: Date): string {
  const parts = [now.toISOString(), level.toUpperCase().padEnd(5), printText(message)]
  let stack = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (value instanceof Error && name === 'error') stack = `\n${value.stack ?? value.message}`
    else parts.push(`${name}=${printValue(value)}`)
  }
  return `${parts.join(' ')}${stack.replaceAll('\n', '\n    ')}`
}

/** Clients choose some of these texts: no line break or control character of theirs reaches the log. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

const printText = (text: string): string => (CONTROL.test(text) ? JSON.stringify(text) : text)

function printValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Error) return JSON.stringify(value.message)
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return /^[^\s"=]+$/.test(text) && !CONTROL.test(text) ? text : JSON.stringify(text)
}

async function jsonWriter(): Promise<(line: LogLine) => void> {
  const { pino } = await import('pino')
  const log = pino(
    {
      level: 'debug',
      base: null,
      formatters: { level: label => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
      timestamp: () => `,"ts":${Date.now() / 1000}`,
    },
    // Synchronous, so that the last lines before an exit are written.
    pino.destination({ dest: 2, sync: true }),
  )
  return ({ level, message, fields }) => log[level](fields, message)
}
