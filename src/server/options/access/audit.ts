// The audit log.
import { UsageError } from '../../../base/usage-error.js'
import { type LogFileOptions } from '../../audit/log-file.js'
import { type AuditPolicy, parseAuditPolicy } from '../../audit/policy.js'
import type { FlagTable, FlagValues } from '../flag.js'
import { readFlagFile } from '../flag-files.js'
import { choice, count, optionalText } from '../flag-values.js'

export interface AuditOptions {
  readonly policy: AuditPolicy
  readonly log: LogFileOptions
}

export const auditFlags = {
  'audit-policy-file': optionalText('<file>', 'the audit policy: which requests are recorded, and how much of them'),
  'audit-log-path': optionalText('<file>', 'the file of the audit log; - is the standard output'),
  'audit-log-maxsize': count('the size in MiB at which the audit log is renamed and begun anew; 0 is no limit', 0),
  'audit-log-maxbackup': count('how many renamed audit logs are kept; 0 keeps all', 0),
  'audit-log-maxage': count('how many days renamed audit logs are kept; 0 keeps all', 0),
  'audit-log-format': choice(['json'], 'the format of the audit log', 'json'),
  'audit-log-mode': choice(
    ['batch', 'blocking', 'blocking-strict'],
    'when events are written; here each is written when its stage is reached',
    'blocking',
  ),
  'audit-log-version': choice(['audit.k8s.io/v1'], 'the version of the events', 'audit.k8s.io/v1'),
} satisfies FlagTable

const DAY_MS = 86_400_000

/** Undefined without a policy or without a file: then nothing is recorded. */
export function auditFromFlags(flags: FlagValues<typeof auditFlags>): AuditOptions | undefined {
  const [policyFile, path] = [flags['audit-policy-file'], flags['audit-log-path']]
  if (policyFile === undefined) return undefined
  // Read without a log, too: a policy that cannot be read is an error at the start, as with kube-apiserver.
  const text = readFlagFile('audit-policy-file', policyFile)
  try {
    const policy = parseAuditPolicy(Buffer.from(text))
    if (path === undefined) return undefined
    return {
      policy,
      log: {
        path,
        maxBytes: flags['audit-log-maxsize'] * 2 ** 20,
        maxBackups: flags['audit-log-maxbackup'],
        maxAgeMs: flags['audit-log-maxage'] * DAY_MS,
      },
    }
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--audit-policy-file=${policyFile}: ${error.message}`) : error
  }
}

/** What was given without what it needs. */
export function auditWarnings(flags: FlagValues<typeof auditFlags>): string[] {
  const [policyFile, path] = [flags['audit-policy-file'], flags['audit-log-path']]
  if (path !== undefined && policyFile === undefined)
    return ['--audit-log-path records nothing without --audit-policy-file']
  if (policyFile !== undefined && path === undefined)
    return ['--audit-policy-file records nothing without --audit-log-path']
  return []
}
