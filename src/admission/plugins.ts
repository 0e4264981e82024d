// The admission plugins of kube-apiserver, in its order, and the steps that this server adds. Flags, their help and the
// chain all read this table.

import type { GetAuthorizer, RuleResolver } from '../auth/authorizer.js'
import type { MetricsRegistry } from '../base/metrics.js'
import type { Kind } from '../kinds/kind.js'
import { type FeatureGates, isGateOn } from '../meta/feature-gates.js'
import { RANDOM_IDS } from '../meta/object/ids.js'
import { generateName } from '../meta/object/names.js'
import type { Lister } from '../objects/lister.js'
import type { Webhooks } from '../webhook/client.js'
import type { FindCredentials } from '../webhook/webhook-users.js'
import { type Admission, type AdmissionPlugin, createAdmission } from './chain.js'
import { createChainMetrics } from './chain-metrics.js'
import type { PluginConfigurations } from './configuration.js'
import { countedConditions } from './expressions/condition-metrics.js'
import type { FunctionPlugins } from './functions.js'
import { certificateDurations } from './internal/certificate-durations.js'
import { claimAuthorization } from './internal/claim-authorization.js'
import { createOnUpdate } from './internal/create-on-update.js'
import { csrRequester } from './internal/csr-requester.js'
import { definitionLifecycle } from './internal/definition-lifecycle.js'
import { podCertificateSigning } from './internal/pod-certificate-signing.js'
import { rbacEscalation } from './internal/rbac-escalation.js'
import { systemPriorityClasses } from './internal/system-priority-classes.js'
import { certificateApproval } from './plugins/certificate-approval.js'
import { certificateSigning } from './plugins/certificate-signing.js'
import { certificateSubjectRestriction } from './plugins/certificate-subject-restriction.js'
import { clusterTrustBundleAttest } from './plugins/cluster-trust-bundle-attest.js'
import { defaultIngressClass } from './plugins/default-ingress-class.js'
import { defaultStorageClass } from './plugins/default-storage-class.js'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.js'
import { denyServiceExternalIPs } from './plugins/deny-service-external-ips.js'
import { limitRanger } from './plugins/limit-ranger.js'
import { type FindNamespace, namespaceLifecycle } from './plugins/namespace-lifecycle.js'
import { nodeDeclaredFeatureValidator } from './plugins/node-declared-feature-validator.js'
import { nodeRestriction } from './plugins/node-restriction/plugin.js'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.js'
import { podResizeValidator } from './plugins/pod-resize-validator.js'
import { podSecurity } from './plugins/pod-security/plugin.js'
import { podTopologyLabels } from './plugins/pod-topology-labels.js'
import { priority } from './plugins/priority.js'
import { type ChangeQuotaStatus, resourceQuota } from './plugins/resource-quota/plugin.js'
import { runtimeClass } from './plugins/runtime-class.js'
import { serviceAccount } from './plugins/service-account.js'
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.js'
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.js'
import { mutatingAdmissionPolicy } from './policies/mutating.js'
import type { PolicyObjects } from './policies/source.js'
import { validatingAdmissionPolicy } from './policies/validating.js'
import type { WebhookSources } from './webhook-sources.js'
import type { WebhookEnv } from './webhooks/call.js'
import { createWebhookMetrics } from './webhooks/metrics.js'
import { mutatingWebhooks } from './webhooks/mutating.js'
import { validatingWebhooks } from './webhooks/validating.js'

export { SYSTEM_NAMESPACES } from './plugins/namespace-lifecycle.js'
export type { PolicyObjects } from './policies/source.js'

/** What plugins get from the server. */
export interface AdmissionEnv {
  readonly objects: Lister
  readonly findNamespace: FindNamespace
  readonly authorizer: GetAuthorizer
  readonly rules: () => RuleResolver
  readonly changeQuotaStatus: ChangeQuotaStatus
  /** Whether a namespace has quotas; answered from memory, because every create asks. */
  readonly hasQuotas: (namespace: string) => boolean
  readonly findKind: (group: string, kind: string) => Kind | undefined
  /** Answered from memory, because every write reads them. */
  readonly validatingPolicies: PolicyObjects
  readonly mutatingPolicies: PolicyObjects
  readonly now: () => number
  /** Calls webhooks. */
  readonly webhookClient: Webhooks
  readonly webhookSources: WebhookSources
  readonly metrics: MetricsRegistry
  readonly configurations: PluginConfigurations
  readonly featureGates: FeatureGates
  /** Functions of the program that embeds the server. */
  readonly functions: FunctionPlugins
}

export interface AdmissionPluginEntry {
  /** kube-apiserver's name, which the flags use. */
  readonly name: string
  /** Whether kube-apiserver has it on by default. */
  readonly isOnByDefault: boolean
  /** Absent if this server does not have the plugin. */
  readonly create?: ((env: AdmissionEnv) => AdmissionPlugin) | undefined
  /** Why this server does not have it. */
  readonly missing?: string | undefined
}

type Create = (env: AdmissionEnv) => AdmissionPlugin

const on = (name: string, create: Create): AdmissionPluginEntry => ({ name, isOnByDefault: true, create })
const off = (name: string, create: Create): AdmissionPluginEntry => ({ name, isOnByDefault: false, create })
const missing = (name: string, isOnByDefault: boolean, reason: string): AdmissionPluginEntry => ({
  name,
  isOnByDefault,
  missing: reason,
})

const NOT_YET = 'not implemented'
const ALPHA = 'its feature gate is off by default'
const NEEDS_CONFIG = 'not applicable: it needs a configuration file'
const DEPRECATED = 'deprecated: it has no effect on its own'

const webhookEnv = (
  { findNamespace, authorizer, webhookClient, metrics, now }: AdmissionEnv,
  findCredentials: FindCredentials,
  type: 'admit' | 'validate',
): WebhookEnv => ({
  findNamespace,
  authorizer,
  client: webhookClient,
  findCredentials,
  metrics: createWebhookMetrics(metrics),
  evaluateConditions: countedConditions(metrics, 'webhook', type),
  now,
})

/** In the order in which they run. */
export const ADMISSION_PLUGINS: readonly AdmissionPluginEntry[] = [
  missing('AlwaysAdmit', false, DEPRECATED),
  missing('NamespaceAutoProvision', false, NOT_YET),
  on('NamespaceLifecycle', ({ findNamespace }) => namespaceLifecycle(findNamespace)),
  missing('NamespaceExists', false, 'NamespaceLifecycle includes it'),
  missing('LimitPodHardAntiAffinityTopology', false, NOT_YET),
  on('LimitRanger', ({ objects }) => limitRanger(objects)),
  on('ServiceAccount', ({ objects }) =>
    serviceAccount(objects, { generateName: base => generateName(base, RANDOM_IDS) }),
  ),
  off('NodeRestriction', env => nodeRestriction(env)),
  on('TaintNodesByCondition', () => taintNodesByCondition),
  missing('AlwaysPullImages', false, NOT_YET),
  missing('ImagePolicyWebhook', false, NEEDS_CONFIG),
  on('PodSecurity', env => podSecurity(env, env.configurations.podSecurity)),
  missing('PodNodeSelector', false, NOT_YET),
  on('Priority', ({ objects }) => priority(objects)),
  on('DefaultTolerationSeconds', () => defaultTolerationSeconds),
  missing('PodTolerationRestriction', false, NOT_YET),
  missing('EventRateLimit', false, NEEDS_CONFIG),
  missing('ExtendedResourceToleration', false, NOT_YET),
  on('DefaultStorageClass', ({ objects }) => defaultStorageClass(objects)),
  on('StorageObjectInUseProtection', () => storageObjectInUseProtection),
  missing('PodGroupProtection', true, ALPHA),
  missing('OwnerReferencesPermissionEnforcement', false, NOT_YET),
  on('PersistentVolumeClaimResize', ({ objects }) => persistentVolumeClaimResize(objects)),
  on('RuntimeClass', ({ objects }) => runtimeClass(objects)),
  on('CertificateApproval', ({ authorizer }) => certificateApproval(authorizer)),
  on('CertificateSigning', ({ authorizer }) => certificateSigning(authorizer)),
  on('ClusterTrustBundleAttest', ({ authorizer }) => clusterTrustBundleAttest(authorizer)),
  on('CertificateSubjectRestriction', () => certificateSubjectRestriction),
  on('DefaultIngressClass', ({ objects }) => defaultIngressClass(objects)),
  off('DenyServiceExternalIPs', () => denyServiceExternalIPs),
  on('PodTopologyLabels', ({ objects }) => podTopologyLabels(objects)),
  missing('PodGroupWorkloadExists', true, ALPHA),
  on('NodeDeclaredFeatureValidator', ({ objects }) => nodeDeclaredFeatureValidator(objects)),
  missing('JobValidation', true, ALPHA),
  on('PodResizeValidator', ({ objects }) => podResizeValidator(objects)),
  on('MutatingAdmissionPolicy', mutatingAdmissionPolicy),
  on('MutatingAdmissionWebhook', env =>
    mutatingWebhooks(env.webhookSources.mutating, webhookEnv(env, env.configurations.mutatingWebhooks, 'admit')),
  ),
  on('ValidatingAdmissionPolicy', validatingAdmissionPolicy),
  on('ValidatingAdmissionWebhook', env =>
    validatingWebhooks(
      env.webhookSources.validating,
      webhookEnv(env, env.configurations.validatingWebhooks, 'validate'),
    ),
  ),
  on('ResourceQuota', env => resourceQuota(env, env.configurations.limitedResources)),
  missing('AlwaysDeny', false, DEPRECATED),
]

export const findAdmissionPlugin = (name: string): AdmissionPluginEntry | undefined =>
  ADMISSION_PLUGINS.find(entry => entry.name === name)

export interface AdmissionOptions {
  /** Plugins to switch on beside those that are on by default. */
  readonly enabled?: readonly string[] | undefined
  /** Plugins to switch off. */
  readonly disabled?: readonly string[] | undefined
}

/** Steps that kube-apiserver has in other places, and that no flag switches off: these run before the plugins. */
const INTERNAL_FIRST: readonly Create[] = [
  () => definitionLifecycle,
  ({ authorizer }) => podCertificateSigning(authorizer),
]

/** The same: these run after the plugins, on the object as the plugins have left it. */
const INTERNAL_LAST: readonly Create[] = [
  () => csrRequester,
  () => systemPriorityClasses,
  ({ authorizer, rules }) => rbacEscalation(authorizer, rules),
  ({ authorizer }) => createOnUpdate(authorizer),
  ({ objects, authorizer, featureGates }) =>
    claimAuthorization(objects, authorizer, isGateOn(featureGates, 'DRAResourceClaimGranularStatusAuthorization')),
  ({ metrics }) => certificateDurations(metrics),
]

const isOn = (
  { name, isOnByDefault, create }: AdmissionPluginEntry,
  { enabled = [], disabled = [] }: AdmissionOptions,
): boolean => create !== undefined && !disabled.includes(name) && (isOnByDefault || enabled.includes(name))

/** Whether a plugin runs: a controller may be needed only together with it. */
export function isAdmissionPluginOn(name: string, options: AdmissionOptions): boolean {
  const entry = findAdmissionPlugin(name)
  return entry !== undefined && isOn(entry, options)
}

export function createServerAdmission(env: AdmissionEnv, options: AdmissionOptions): Admission {
  const plugins: AdmissionPlugin[] = []
  for (const entry of ADMISSION_PLUGINS) {
    // Functions see an object after the plugins that complete it, and before policies and webhooks.
    if (entry.name === 'MutatingAdmissionPolicy') plugins.push(...env.functions(env))
    if (isOn(entry, options)) plugins.push(entry.create!(env))
  }
  const create = (each: Create): AdmissionPlugin => each(env)
  const metrics = createChainMetrics(env.metrics, name => findAdmissionPlugin(name) !== undefined)
  return createAdmission([...INTERNAL_FIRST.map(create), ...plugins, ...INTERNAL_LAST.map(create)], metrics)
}
