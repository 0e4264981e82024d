// Events that are too large for where they go: without their objects, or not at all.
import type { MetricsRegistry } from '../../base/metrics.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { isObject, type ValueObject } from '../../meta/values/value.js'
import { type AuditSink, TRUNCATED } from './audit-log.js'

export interface TruncateOptions {
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
}

/** Events that did not arrive where they should, by the part that lost them. */
export const auditErrors = (metrics: MetricsRegistry) =>
  metrics.counter(
    'apiserver_audit_error_total',
    'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
    ['plugin'],
  )

export function truncated(sink: AuditSink, options: TruncateOptions | undefined, metrics: MetricsRegistry): AuditSink {
  if (!options) return sink
  const { maxEventBytes } = options
  const lost = auditErrors(metrics).with('truncate')
  const isTooLarge = (line: string): boolean => Buffer.byteLength(line) - 1 > maxEventBytes
  return {
    write(line) {
      const kept = isTooLarge(line) ? withoutObjects(line) : line
      if (!isTooLarge(kept)) return sink.write(kept)
      lost.inc()
      return true
    },
  }
}

function withoutObjects(line: string): string {
  const { value } = decodeJson(Buffer.from(line.trimEnd()))
  if (!isObject(value) || stringAt(value, 'level') === 'Metadata') return line
  const { requestObject: _, responseObject: __, ...event } = value
  const annotations: ValueObject = { ...objectAt(event, 'annotations'), [TRUNCATED]: 'true' }
  return `${encodeJson({ ...event, annotations })}\n`
}
