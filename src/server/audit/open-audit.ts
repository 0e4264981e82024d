// Where audit events go: to the file of the audit log, to a server, or to both.

import type { AuditSink } from './audit-log.js'
import type { LogFileOptions } from './log-file.js'
import { openLogFile } from './log-file.js'
import { type TruncateOptions, truncated } from './truncate.js'
import { type AuditWebhookOptions, type AuditWebhookParts, openAuditWebhook } from './webhook.js'

export interface AuditTargets {
  readonly log: LogFileOptions | undefined
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
    ...(file ? [truncated(file, truncateLog, parts.metrics)] : []),
    ...(sender ? [truncated(sender, webhook.truncate, parts.metrics)] : []),
  ]
  return {
    write(line) {
      for (const sink of sinks) sink.write(line)
    },
    async close() {
      file?.close()
      await sender?.close()
    },
  }
}
