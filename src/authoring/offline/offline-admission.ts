// Admission without a server. Plugins that decide by the object itself, and by objects that a repository holds, run:
// policies, LimitRanges, Pod Security. Those that refuse an object because something is not there do not: it may be on the
// cluster.

import type { Admission } from '../../admission/chain.js'
import { DEFAULT_CONFIGURATIONS } from '../../admission/configuration.js'
import { createServerAdmission, type PolicyObjects } from '../../admission/plugins.js'
import { ALWAYS_ALLOW, type RuleResolver } from '../../auth/authorizer.js'
import { createMetrics } from '../../base/metrics.js'
import type { Registry } from '../../kinds/registry.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { createWebhooks } from '../../webhook/client.js'
import type { KeptObjects } from './kept-objects.js'

/** The plugins that need what only a cluster has. */
const NEED_A_CLUSTER = [
  'NamespaceLifecycle',
  'ServiceAccount',
  'Priority',
  'RuntimeClass',
  'PersistentVolumeClaimResize',
  'ResourceQuota',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
]

const POLICIES = 'admissionregistration.k8s.io'
const NAMESPACE = { group: '', kind: 'Namespace' }
const NO_RULES: RuleResolver = { rulesFor: () => ({ rules: [], error: '' }), rulesOf: () => undefined }
const NO_WEBHOOKS = () => []

export function createOfflineAdmission(kept: KeptObjects, registry: Registry, now: () => number): Admission {
  const policiesOf = (kind: string): PolicyObjects => ({
    get generation() {
      return kept.generation
    },
    policies: () => kept.of(POLICIES, kind),
    bindings: () => kept.of(POLICIES, `${kind}Binding`),
    isComplete: true,
  })
  return createServerAdmission(
    {
      objects: kept,
      async findNamespace(name) {
        const found = await kept.find(NAMESPACE, '', name)
        const labels = { 'kubernetes.io/metadata.name': name, ...(found && metaOf(found).labels) }
        return { isTerminating: false, labels }
      },
      authorizer: () => ALWAYS_ALLOW,
      rules: () => NO_RULES,
      changeQuotaStatus: () => Promise.reject(new Error('there are no quotas offline')),
      hasQuotas: () => false,
      findKind: (group, kind) => registry.findKind(group, kind),
      validatingPolicies: policiesOf('ValidatingAdmissionPolicy'),
      mutatingPolicies: policiesOf('MutatingAdmissionPolicy'),
      now,
      webhookClient: createWebhooks(),
      webhookSources: { mutating: NO_WEBHOOKS, validating: NO_WEBHOOKS, isComplete: true, stop() {} },
      metrics: createMetrics(),
      configurations: DEFAULT_CONFIGURATIONS,
      functions: () => [],
      featureGates: {},
    },
    { disabled: NEED_A_CLUSTER },
  )
}
