// Warnings about writes that are accepted, for kinds without a file of their own.
import type { Warnings } from './common/define-kind.js'
import { endpointSliceWarnings, networkPolicyWarnings } from './network-warnings.js'

export const WARNINGS: Readonly<Record<string, Warnings | undefined>> = {
  'discovery.k8s.io/v1 EndpointSlice': endpointSliceWarnings,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicyWarnings,
}
