// Where audit events go: to the file of the audit log, to a server, or to both.

import type { AuditSink } from './audit-log.js'
import { type LogFile, type LogFileOptions, openLogFile } from './log-file.js'
import { auditErrors, type TruncateOptions, truncated } from './truncate.js'
import { type AuditWebhookOptions, type AuditWebhookParts, openAuditWebhook } from './webhook.js'

export interface AuditTargets {
  readonly log: (LogFileOptions & { readonly isStrict: boolean }) | undefined
  readonly truncateLog?: TruncateOptions | undefined
  readonly webhook?: AuditWebhookOptions | undefined
}

export function openAudit(
  { log, truncateLog, webhook }: AuditTargets,
  parts: AuditWebhookParts & { readonly now: () => number },
): AuditSink & { close(): Promise<void> } {
  const file = log && openLogFile(log, parts.now)
  const sender = webhook && openAuditWebhook(webhook, parts)
  const sinks: AuditSink[] = [
    ...(file ? [truncated(counted(file, log.isStrict, parts), truncateLog, parts.metrics)] : []),
    ...(sender ? [truncated(sender, webhook.truncate, parts.metrics)] : []),
  ]
  return {
    write: line => sinks.map(sink => sink.write(line)).every(Boolean),
    async close() {
      file?.close()
      await sender?.close()
    },
  }
}

/** Counts what the file does not take. Requests are served nevertheless, unless the mode is strict. */
function counted(
  file: LogFile,
  isStrict: boolean,
  { metrics, log }: Pick<AuditWebhookParts, 'metrics' | 'log'>,
): AuditSink {
  const lost = auditErrors(metrics).with('log')
  let hasFailed = false
  return {
    write(line) {
      try {
        file.write(line)
        if (hasFailed) log.info('the audit log can be written again')
        hasFailed = false
        return true
      } catch (error) {
        lost.inc()
        if (!hasFailed) log.error('audit events are lost: the audit log cannot be written', { error })
        hasFailed = true
        return !isStrict
      }
    },
  }
}
