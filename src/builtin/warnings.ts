// Warnings about writes that are accepted, for kinds without a file of their own.
import type { Warnings } from './common/define-kind.js'
import { templateWarnings } from './core/pod/warnings.js'
import { endpointSliceWarnings, networkPolicyWarnings } from './network-warnings.js'

export const WARNINGS: Readonly<Record<string, Warnings | undefined>> = {
  'batch/v1 Job': templateWarnings('spec.template', { isNamed: true }),
  'batch/v1 CronJob': templateWarnings('spec.jobTemplate.spec.template', { isNamed: true }),
  'discovery.k8s.io/v1 EndpointSlice': endpointSliceWarnings,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicyWarnings,
}
