// The types of the documents that configure admission, and their kinds. They are decoded as kube-apiserver decodes them.
import { once } from '../../base/memo.js'
import type { ConfigurationScheme } from '../../types/configuration-document.js'
import type { FieldSpec, TypeSpec } from '../../types/type.js'
import { builtinTypesAnd, type TypeTable } from '../../types/type-table.js'

const GROUP = 'apiserver.config.k8s.io'

export const ADMISSION_CONFIGURATION: ConfigurationScheme = {
  kinds: [`${GROUP}/v1 AdmissionConfiguration`, 'apiserver.k8s.io/v1alpha1 AdmissionConfiguration'],
  scheme: 'k8s.io/apiserver/pkg/server/options/admission.go:51',
}

export const WEBHOOK_CONFIGURATION: ConfigurationScheme = {
  kinds: [`${GROUP}/v1 WebhookAdmissionConfiguration`],
  scheme: 'k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go:34',
}

export const POLICY_CONFIGURATION: ConfigurationScheme = {
  kinds: [`${GROUP}/v1 ValidatingAdmissionPolicyConfiguration`, `${GROUP}/v1 MutatingAdmissionPolicyConfiguration`],
  scheme: 'k8s.io/apiserver/pkg/admission/plugin/policy/config/config.go:32',
}

export const QUOTA_CONFIGURATION: ConfigurationScheme = {
  kinds: [
    `${GROUP}/v1 ResourceQuotaConfiguration`,
    'resourcequota.admission.k8s.io/v1beta1 Configuration',
    'resourcequota.admission.k8s.io/v1alpha1 Configuration',
  ],
  scheme: 'k8s.io/apiserver/pkg/admission/plugin/resourcequota/config.go:31',
}

export const POD_SECURITY_CONFIGURATION: ConfigurationScheme = {
  kinds: ['v1', 'v1beta1', 'v1alpha1'].map(
    version => `pod-security.admission.config.k8s.io/${version} PodSecurityConfiguration`,
  ),
  scheme: 'k8s.io/pod-security-admission/admission/api/scheme/scheme.go:31',
}

const string = (name: string): FieldSpec => ({ name, type: 'string', omitempty: true })
const strings = (name: string): FieldSpec => ({ name, type: '[]string', omitempty: true })
const document = (...fields: FieldSpec[]): TypeSpec => ({
  fields: [{ type: 'meta/v1.TypeMeta', inline: true }, ...fields],
})

const TYPES: Readonly<Record<string, TypeSpec>> = {
  'apiserver/v1.AdmissionConfiguration': document({
    name: 'plugins',
    type: '[]apiserver/v1.AdmissionPluginConfiguration',
  }),
  'apiserver/v1.AdmissionPluginConfiguration': {
    fields: [
      string('name'),
      string('path'),
      { name: 'configuration', type: 'runtime.RawExtension', omitempty: true, pointer: true },
    ],
  },
  'webhookadmission/v1.WebhookAdmission': document(string('kubeConfigFile'), string('staticManifestsDir')),
  'policyconfig/v1.AdmissionPolicyConfiguration': document(string('staticManifestsDir')),
  'resourcequota/v1.Configuration': document({ name: 'limitedResources', type: '[]resourcequota/v1.LimitedResource' }),
  'resourcequota/v1.LimitedResource': {
    fields: [
      string('apiGroup'),
      string('resource'),
      strings('matchContains'),
      { name: 'matchScopes', type: '[]core/v1.ScopedResourceSelectorRequirement', omitempty: true },
    ],
  },
  'podsecurity/v1.PodSecurityConfiguration': document(
    { name: 'defaults', type: 'podsecurity/v1.PodSecurityDefaults' },
    { name: 'exemptions', type: 'podsecurity/v1.PodSecurityExemptions' },
  ),
  'podsecurity/v1.PodSecurityDefaults': {
    fields: ['enforce', 'audit', 'warn'].flatMap(mode => [string(mode), string(`${mode}-version`)]),
  },
  'podsecurity/v1.PodSecurityExemptions': {
    fields: [strings('usernames'), strings('namespaces'), strings('runtimeClasses')],
  },
}

const TYPE_OF: readonly (readonly [ConfigurationScheme, string])[] = [
  [ADMISSION_CONFIGURATION, 'apiserver/v1.AdmissionConfiguration'],
  [WEBHOOK_CONFIGURATION, 'webhookadmission/v1.WebhookAdmission'],
  [POLICY_CONFIGURATION, 'policyconfig/v1.AdmissionPolicyConfiguration'],
  [QUOTA_CONFIGURATION, 'resourcequota/v1.Configuration'],
  [POD_SECURITY_CONFIGURATION, 'podsecurity/v1.PodSecurityConfiguration'],
]

/** Created only if a server has such a configuration. */
export const configurationTypes = once((): TypeTable => {
  const kinds: Record<string, string> = {}
  for (const [{ kinds: names }, type] of TYPE_OF) for (const name of names) kinds[name] = type
  return builtinTypesAnd({ kinds, types: TYPES })
})
