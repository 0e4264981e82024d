// Metrics of PodSecurity, by kube-apiserver's names and labels.
import type { MetricsRegistry } from '../../../base/metrics.js'
import type { Attributes } from '../../attributes.js'
import { type LevelVersion, type Policy, printVersion } from './policy.js'

export interface PodSecurityMetrics {
  evaluated(isAllowed: boolean, level: LevelVersion, mode: keyof Policy, attributes: Attributes): void
  exempted(attributes: Attributes): void
  /** The labels of the namespace are wrong. */
  failed(attributes: Attributes): void
}

const REQUEST = ['request_operation', 'resource', 'subresource'] as const
/** The minor version of Kubernetes that this server is of; policies of later ones are counted together. */
const MINOR = 36

export function createPodSecurityMetrics(registry: MetricsRegistry): PodSecurityMetrics {
  const evaluations = registry.counter(
    'pod_security_evaluations_total',
    'Evaluations of policies, without requests that are ignored or exempt.',
    ['decision', 'policy_level', 'policy_version', 'mode', ...REQUEST],
  )
  const exemptions = registry.counter('pod_security_exemptions_total', 'Exempt requests.', REQUEST)
  const errors = registry.counter(
    'pod_security_errors_total',
    'Errors that prevent a normal evaluation. After one that is not fatal, the latest restricted policy may be used.',
    ['fatal', ...REQUEST],
  )
  // Those that are counted most are there before the first, so that a rate can be computed from the beginning.
  for (const operation of ['create', 'update']) {
    evaluations.with('allow', 'privileged', 'latest', 'enforce', operation, 'pod', '')
    for (const resource of ['pod', 'controller']) exemptions.with(operation, resource, '')
  }
  const requestOf = ({ operation, resource: { group, resource }, subresource }: Attributes) => {
    const kind =
      group === '' && (resource === 'pods' || resource === 'namespaces') ? resource.slice(0, -1) : 'controller'
    return [operation.toLowerCase(), kind, subresource] as const
  }
  return {
    evaluated(isAllowed, { level, minor }, mode, attributes) {
      const version =
        level === 'privileged' ? 'latest' : minor > MINOR && minor < Infinity ? 'future' : printVersion(minor)
      const decision = isAllowed ? 'allow' : 'deny'
      evaluations.with(decision, level, version, mode, ...requestOf(attributes)).inc()
    },
    exempted: attributes => exemptions.with(...requestOf(attributes)).inc(),
    failed: attributes => errors.with('false', ...requestOf(attributes)).inc(),
  }
}
