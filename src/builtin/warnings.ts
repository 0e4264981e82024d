// Warnings about writes that are accepted, for kinds without a file of their own.
import { objectAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { Warnings } from './common/define-kind.js'
import { podWarnings, templateWarnings } from './core/pod/warnings.js'
import { endpointSliceWarnings, networkPolicyWarnings } from './network-warnings.js'

export const WARNINGS: Readonly<Record<string, Warnings | undefined>> = {
  'v1 Pod': podWarnings,
  'batch/v1 Job': templateWarnings('spec.template', { isNamed: true }),
  'batch/v1 CronJob': templateWarnings('spec.jobTemplate.spec.template', { isNamed: true }),
  'v1 Secret': secretWarnings,
  'discovery.k8s.io/v1 EndpointSlice': endpointSliceWarnings,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicyWarnings,
}

/** A pair of certificate and key that nobody can use. */
function secretWarnings(secret: ValueObject): string[] {
  if (stringAt(secret, 'type') !== 'kubernetes.io/tls') return []
  const data = objectAt(secret, 'data')
  const lacksPem = (key: string): boolean =>
    !/-----BEGIN [^-]+-----/.test(Buffer.from(stringAt(data, key), 'base64').toString('latin1'))
  if (lacksPem('tls.crt')) return ['tls: failed to find any PEM data in certificate input']
  return lacksPem('tls.key') ? ['tls: failed to find any PEM data in key input'] : []
}
