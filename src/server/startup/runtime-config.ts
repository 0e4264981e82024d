// Which API versions are served: those that are by default, changed by --runtime-config.
import { UsageError } from '../../base/usage-error.js'
import type { Kind } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import type { RuntimeConfig } from '../options/api.js'

/** A version that kube-apiserver has removed is switched on only by its own name. */
const ONLY_BY_NAME = new Set(['apiextensions.k8s.io/v1beta1'])

/** Its own name switches it on without its gate, too, unless the gate is set to false. */
const MIGRATIONS = 'storagemigration.k8s.io/storageversionmigrations'

/** Resources that are served only while a feature gate is on, too. */
const GATED: Readonly<Record<string, string>> = {
  'certificates.k8s.io/clustertrustbundles': 'ClusterTrustBundle',
  'certificates.k8s.io/podcertificaterequests': 'PodCertificateRequest',
  [MIGRATIONS]: 'StorageVersionMigrator',
}

/** The versions of a kind that the configuration and the feature gates leave are served. */
export function withRuntimeConfig(kind: Kind, config: RuntimeConfig, gates: FeatureGates = {}): Kind {
  const resource = `${kind.group}/${kind.names.plural}`
  const gate = GATED[resource]
  const isOn = gate === undefined || isGateOn(gates, gate)
  const needsName = !isOn && resource === MIGRATIONS && gates[gate] !== false
  const versions = kind.versions.map(version => {
    const apiVersion = apiVersionOf(kind, version.name)
    const byStage = config[`api/${stabilityOf(version.name)}`] ?? config['api/all']
    const byName = config[`${apiVersion}/${kind.names.plural}`] ?? config[apiVersion]
    const isConfigured = byName ?? (ONLY_BY_NAME.has(apiVersion) ? undefined : byStage) ?? version.served
    const served = isConfigured && (isOn || (needsName && byName === true))
    return served === version.served ? version : { ...version, served }
  })
  return versions.every((version, i) => version === kind.versions[i]) ? kind : { ...kind, versions }
}

/** The core group under the names that kube-apiserver takes for it: `v1`, `api/v1`, and any resource of either. */
export const withCoreNames = (config: RuntimeConfig): RuntimeConfig =>
  Object.fromEntries(Object.entries(config).map(([name, on]) => [/^(api\/)?v1(\/|$)/.test(name) ? 'v1' : name, on]))

const stabilityOf = (version: string): string => /^v[0-9]+(alpha|beta)[0-9]+$/.exec(version)?.[1] ?? 'ga'

const ALL = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha', 'api/legacy'])

/**
 * Refuses unknown groups and versions, with kube-apiserver's words, and answers the versions that kube-apiserver has and
 * this server has not: they are switched on without effect. `served` are group versions, `apps/v1`.
 */
export function checkRuntimeConfig(config: RuntimeConfig, served: ReadonlySet<string>): string[] {
  const names = Object.keys(config)
  if (names.length === 1 && config['api/all'] === false) {
    throw new UsageError('invalid runtime-config with only api/all=false')
  }
  const apis = names.filter(name => !ALL.has(name))
  const misspelt = apis.find(name => resourceOf(name) !== resourceOf(name).toLowerCase())
  if (misspelt !== undefined) {
    const why = `group/version/resource and resource is always lowercase plural, not "${resourceOf(misspelt)}"`
    throw new UsageError(`invalid key ${misspelt}: ${why}`)
  }
  const versions = [...new Set(apis.map(versionOf))]
  const groups = new Set([...served, ...KNOWN].map(groupOf))
  const unknown = versions.filter(name => !groups.has(groupOf(name)))
  if (unknown.length > 0) throw new UsageError(`unknown api groups ${unknown.toSorted().join(',')}`)
  const unregistered = versions.find(name => !served.has(name) && !KNOWN.has(name))
  if (unregistered !== undefined) throw new UsageError(`group version ${unregistered} that has not been registered`)
  return apis.filter(name => !served.has(versionOf(name)) && config[name])
}

const groupOf = (groupVersion: string): string => (groupVersion.includes('/') ? groupVersion.split('/', 1)[0]! : '')

/** A key names a group version, or one resource of it: `apps/v1/deployments`. */
const versionOf = (key: string): string => key.split('/', 2).join('/')
const resourceOf = (key: string): string => key.split('/')[2] ?? ''

/** The group versions that kube-apiserver v1.36 knows. */
const KNOWN = new Set(
  `
  admission.k8s.io/v1 admission.k8s.io/v1beta1 admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1alpha1
  admissionregistration.k8s.io/v1beta1 apidiscovery.k8s.io/v2 apidiscovery.k8s.io/v2beta1 apiextensions.k8s.io/v1
  apiextensions.k8s.io/v1beta1 apiregistration.k8s.io/v1 apiregistration.k8s.io/v1beta1 apps/v1 apps/v1beta1
  apps/v1beta2 authentication.k8s.io/v1 authentication.k8s.io/v1alpha1 authentication.k8s.io/v1beta1
  authorization.k8s.io/v1 authorization.k8s.io/v1beta1 autoscaling/v1 autoscaling/v2 batch/v1 batch/v1beta1
  certificates.k8s.io/v1 certificates.k8s.io/v1alpha1 certificates.k8s.io/v1beta1 coordination.k8s.io/v1
  coordination.k8s.io/v1alpha2 coordination.k8s.io/v1beta1 discovery.k8s.io/v1 discovery.k8s.io/v1beta1
  events.k8s.io/v1 events.k8s.io/v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1
  flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3
  imagepolicy.k8s.io/v1alpha1 internal.apiserver.k8s.io/v1alpha1 networking.k8s.io/v1 networking.k8s.io/v1beta1
  node.k8s.io/v1 node.k8s.io/v1alpha1 node.k8s.io/v1beta1 policy/v1 policy/v1beta1 rbac.authorization.k8s.io/v1
  rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1beta1 resource.k8s.io/v1 resource.k8s.io/v1alpha3
  resource.k8s.io/v1beta1 resource.k8s.io/v1beta2 scheduling.k8s.io/v1 scheduling.k8s.io/v1alpha2
  scheduling.k8s.io/v1beta1 storage.k8s.io/v1 storage.k8s.io/v1alpha1 storage.k8s.io/v1beta1
  storagemigration.k8s.io/v1beta1
  `
    .trim()
    .split(/\s+/),
)
