// The audit log.
import { readTarget } from '../../../auth/authorizer.js'
import { UsageError } from '../../../base/usage-error.js'
import type { AuditTargets } from '../../audit/open-audit.js'
import { type AuditPolicy, parseAuditPolicy } from '../../audit/policy.js'
import type { TruncateOptions } from '../../audit/truncate.js'
import type { AuditWebhookOptions } from '../../audit/webhook.js'
import type { FlagTable, FlagValues } from '../flag.js'
import { messageOf, readFlagFile } from '../flag-files.js'
import { choice, count, duration, optionalText, toggle } from '../flag-values.js'

export interface AuditOptions {
  readonly policy: AuditPolicy
  /** Undefined: events are not written to a file. */
  readonly log: AuditTargets['log']
  /** Undefined: events of any size are written. */
  readonly truncateLog?: TruncateOptions | undefined
  /** Undefined: events are not sent to a server. */
  readonly webhook?: AuditWebhookOptions | undefined
}

const MAX_EVENT_BYTES = 102_400
const MAX_BATCH_BYTES = 10_485_760

export const auditFlags = {
  'audit-policy-file': optionalText('<file>', 'the audit policy: which requests are recorded, and how much of them'),
  'audit-log-path': optionalText('<file>', 'the file of the audit log; - is the standard output'),
  'audit-log-maxsize': count('the size in MiB at which the audit log is renamed and begun anew; 0 is no limit', 0),
  'audit-log-maxbackup': count('how many renamed audit logs are kept; 0 keeps all', 0),
  'audit-log-maxage': count('how many days renamed audit logs are kept; 0 keeps all', 0),
  'audit-log-format': choice(['json'], 'the format of the audit log', 'json'),
  'audit-log-mode': choice(
    ['batch', 'blocking', 'blocking-strict'],
    'whether requests are refused while they cannot be recorded (blocking-strict); events are written as they come',
    'blocking',
  ),
  'audit-log-version': choice(['audit.k8s.io/v1'], 'the version of the events', 'audit.k8s.io/v1'),
  'audit-log-truncate-enabled': toggle('leave out objects of events that are too large for the audit log', false),
  'audit-log-truncate-max-event-size': count('the size in bytes from which an event is too large', MAX_EVENT_BYTES),
  'audit-log-truncate-max-batch-size': count(
    'the size of a batch in bytes; the log is written event by event',
    MAX_BATCH_BYTES,
  ),
  'audit-webhook-config-file': optionalText('<file>', 'a kubeconfig: the server that audit events are sent to'),
  'audit-webhook-mode': choice(
    ['batch', 'blocking', 'blocking-strict'],
    'how they are sent; only batch is possible here: requests do not wait until their events are sent',
    'batch',
  ),
  'audit-webhook-version': choice(['audit.k8s.io/v1'], 'the version of the events that are sent', 'audit.k8s.io/v1'),
  'audit-webhook-initial-backoff': duration('the pause before events are sent again for the first time', 10_000),
  'audit-webhook-batch-buffer-size': count('how many events wait at most; those beyond are lost', 10_000),
  'audit-webhook-batch-max-size': count('how many events are sent at once', 400),
  'audit-webhook-batch-max-wait': duration('how long events wait until they are sent at the latest', 30_000),
  'audit-webhook-batch-throttle-enable': toggle('limit how often events are sent', true),
  'audit-webhook-batch-throttle-qps': count('how many batches are sent in a second', 10),
  'audit-webhook-batch-throttle-burst': count('how many batches are sent at once after a pause', 15),
  'audit-webhook-truncate-enabled': toggle('leave out objects of events that are too large to be sent', false),
  'audit-webhook-truncate-max-event-size': count('the size in bytes from which an event is too large', MAX_EVENT_BYTES),
  'audit-webhook-truncate-max-batch-size': count('the size in bytes of what is sent at once', MAX_BATCH_BYTES),
} satisfies FlagTable

const DAY_MS = 86_400_000

/** Undefined without a policy, or without a file and a webhook: then nothing is recorded. */
export function auditFromFlags(flags: AuditFlags): AuditOptions | undefined {
  const [policyFile, path] = [flags['audit-policy-file'], flags['audit-log-path']]
  const webhook = webhookFromFlags(flags)
  if (policyFile === undefined) return undefined
  // Read without a log, too: a policy that cannot be read is an error at the start, as with kube-apiserver.
  const text = readFlagFile('audit-policy-file', policyFile)
  try {
    const policy = parseAuditPolicy(Buffer.from(text))
    if (path === undefined && webhook === undefined) return undefined
    return { policy, log: logFromFlags(flags, path), truncateLog: truncateFromFlags(flags, 'log'), webhook }
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--audit-policy-file=${policyFile}: ${error.message}`) : error
  }
}

type AuditFlags = FlagValues<typeof auditFlags>

function logFromFlags(flags: AuditFlags, path: string | undefined): AuditTargets['log'] {
  if (path === undefined) return undefined
  return {
    path,
    maxBytes: flags['audit-log-maxsize'] * 2 ** 20,
    maxBackups: flags['audit-log-maxbackup'],
    maxAgeMs: flags['audit-log-maxage'] * DAY_MS,
    isStrict: flags['audit-log-mode'] === 'blocking-strict',
  }
}

function truncateFromFlags(flags: AuditFlags, to: 'log' | 'webhook'): TruncateOptions | undefined {
  const [maxEventBytes, maxBatchBytes] = [
    flags[`audit-${to}-truncate-max-event-size`],
    flags[`audit-${to}-truncate-max-batch-size`],
  ]
  if (!flags[`audit-${to}-truncate-enabled`]) return undefined
  if (maxEventBytes === 0 || maxBatchBytes < maxEventBytes) {
    throw new UsageError(
      `--audit-${to}-truncate-max-event-size=${maxEventBytes}: it must be greater than 0 and at most --audit-${to}-truncate-max-batch-size=${maxBatchBytes}`,
    )
  }
  return { maxEventBytes, maxBatchBytes }
}

function webhookFromFlags(flags: AuditFlags): AuditWebhookOptions | undefined {
  const file = flags['audit-webhook-config-file']
  if (file === undefined) return undefined
  if (flags['audit-webhook-mode'] !== 'batch') {
    throw new UsageError(
      `--audit-webhook-mode=${flags['audit-webhook-mode']} is refused: requests do not wait until their events are sent, only batch is possible`,
    )
  }
  const [maxSize, bufferSize] = [flags['audit-webhook-batch-max-size'], flags['audit-webhook-batch-buffer-size']]
  const [qps, burst] = [flags['audit-webhook-batch-throttle-qps'], flags['audit-webhook-batch-throttle-burst']]
  const isThrottled = flags['audit-webhook-batch-throttle-enable']
  if (maxSize === 0 || bufferSize < maxSize) {
    throw new UsageError(
      `--audit-webhook-batch-max-size=${maxSize}: it must be greater than 0 and at most --audit-webhook-batch-buffer-size=${bufferSize}`,
    )
  }
  if (isThrottled && (qps === 0 || burst === 0)) {
    throw new UsageError(
      '--audit-webhook-batch-throttle-qps and --audit-webhook-batch-throttle-burst must be greater than 0',
    )
  }
  return {
    target: targetIn(file),
    batch: {
      bufferSize,
      maxSize,
      maxWaitMs: flags['audit-webhook-batch-max-wait'],
      throttle: isThrottled ? { qps, burst } : undefined,
    },
    initialBackoffMs: flags['audit-webhook-initial-backoff'],
    truncate: truncateFromFlags(flags, 'webhook'),
  }
}

function targetIn(file: string): AuditWebhookOptions['target'] {
  try {
    return readTarget(file)
  } catch (error) {
    throw new UsageError(`--audit-webhook-config-file=${file}: ${messageOf(error)}`)
  }
}

/** What was given without what it needs. */
export function auditWarnings(flags: AuditFlags): string[] {
  const policyFile = flags['audit-policy-file']
  const names = ['audit-log-path', 'audit-webhook-config-file'] as const
  const given = names.filter(name => flags[name] !== undefined)
  if (policyFile === undefined) return given.map(name => `--${name} records nothing without --audit-policy-file`)
  if (given.length > 0) return []
  return ['--audit-policy-file records nothing without --audit-log-path or --audit-webhook-config-file']
}
