// Where spans of requests are sent.
import { parseTracingConfiguration, type TracingOptions } from '../tracing/configuration.js'
import type { FlagTable, FlagValues } from './flag.js'
import { readFlagFile } from './flag-files.js'
import { optionalText } from './flag-values.js'

export const tracingFlags = {
  'tracing-config-file': optionalText(
    '<file>',
    'a TracingConfiguration: the collector to which spans of requests are sent, by OTLP',
  ),
} satisfies FlagTable

export function tracingFromFlags({
  'tracing-config-file': path,
}: FlagValues<typeof tracingFlags>): TracingOptions | undefined {
  return path === undefined
    ? undefined
    : parseTracingConfiguration(Buffer.from(readFlagFile('tracing-config-file', path)))
}
