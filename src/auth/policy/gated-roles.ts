// What feature gates change in the default roles: roles and rules of features that are off by default, and those that go
// with a feature that is switched off.
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { PolicyRule } from '../authz/rbac.js'
import { type NamedRules, parseRoles } from './policy-text.js'

/** The roles of the policy as the gates want them. New roles are at the end. */
export function withGates(roles: readonly NamedRules[], gates: FeatureGates): NamedRules[] {
  const changed = new Map(roles.map(role => [role.name, role]))
  for (const [gate, text] of Object.entries(ADDED)) {
    if (!isGateOn(gates, gate)) continue
    for (const { name, rules } of parseRoles(text)) {
      changed.set(name, { name, rules: [...(changed.get(name)?.rules ?? []), ...rules] })
    }
  }
  for (const [gate, text] of Object.entries(REMOVED)) {
    if (isGateOn(gates, gate)) continue
    for (const { name, rules } of parseRoles(text)) {
      const role = changed.get(name)
      if (!role) continue
      if (rules.length === 0) changed.delete(name)
      else changed.set(name, { name, rules: role.rules.flatMap(rule => withoutParts(rule, rules)) })
    }
  }
  return [...changed.values()]
}

/** A rule that is removed whole, or the paths of it that are. */
function withoutParts(rule: PolicyRule, removed: readonly PolicyRule[]): PolicyRule[] {
  if (removed.some(each => equalValues(valueOf(each), valueOf(rule)))) return []
  if (rule.nonResourceURLs === undefined) return [rule]
  const paths = new Set(removed.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs))
  return [{ ...rule, nonResourceURLs: rule.nonResourceURLs.filter(path => !paths.has(path)) }]
}

const valueOf = (rule: NamedRules['rules'][number]): Value => rule as unknown as Value

/** The gates that change a role. */
export const roleGates = (): ReadonlySet<string> => new Set([...Object.keys(ADDED), ...Object.keys(REMOVED)])

/** By gates that are off by default. */
const ADDED: Readonly<Record<string, string>> = {
  ClusterTrustBundle: `
    system:cluster-trust-bundle-discovery
    - certificates.k8s.io | clustertrustbundles | read

    system:controller:kube-apiserver-serving-clustertrustbundle-publisher
    - certificates.k8s.io | signers | attest | kubernetes.io/kube-apiserver-serving
    - certificates.k8s.io | clustertrustbundles | create update delete list watch
    - events

    system:node
    - certificates.k8s.io | clustertrustbundles | read`,
  DRADeviceTaintRules: `
    system:controller:device-taint-eviction-controller
    - resource.k8s.io | devicetaintrules/status | update patch
    - resource.k8s.io | devicetaintrules | read

    system:kube-scheduler
    - resource.k8s.io | devicetaintrules | read`,
  DRAResourcePoolStatus: `
    system:controller:resourcepoolstatusrequest-controller
    - resource.k8s.io | resourcepoolstatusrequests | read delete
    - resource.k8s.io | resourcepoolstatusrequests/status | update patch
    - resource.k8s.io | resourceslices | read
    - resource.k8s.io | resourceclaims | read
    - events`,
  GenericWorkload: `
    system:aggregate-to-edit
    - scheduling.k8s.io | podgroups workloads | write

    system:aggregate-to-view
    - scheduling.k8s.io | podgroups podgroups/status workloads | read

    system:controller:podgroup-protection-controller
    - scheduling.k8s.io | podgroups | read update
    - core | pods | read

    system:kube-scheduler
    - scheduling.k8s.io | podgroups | read
    - scheduling.k8s.io | podgroups/status | update patch`,
  PodCertificateRequest: `
    system:controller:podcertificaterequestcleaner
    - certificates.k8s.io | podcertificaterequests | read delete

    system:node
    - certificates.k8s.io | podcertificaterequests | read create`,
  StorageVersionAPI: `
    system:controller:storage-version-garbage-collector
    - coordination.k8s.io | leases | read
    - internal.apiserver.k8s.io | storageversions | read patch update delete
    - internal.apiserver.k8s.io | storageversions/status | get patch update`,
  StorageVersionMigrator: `
    system:controller:storage-version-migrator-controller
    - * | * | list create patch
    - apiextensions.k8s.io | customresourcedefinitions | get
    - apiextensions.k8s.io | customresourcedefinitions/status | patch
    - storagemigration.k8s.io | storageversionmigrations/status | update`,
}

/** By gates that are on by default. A role without rules is the whole role; of a rule of paths only these paths go. */
const REMOVED: Readonly<Record<string, string>> = {
  ComponentFlagz: `
    system:monitoring
    - urls | /flagz | get`,
  ComponentStatusz: `
    system:monitoring
    - urls | /statusz | get`,
  DRADeviceTaints: `
    system:controller:device-taint-eviction-controller`,
  DRAExtendedResource: `
    system:kube-scheduler
    - resource.k8s.io | resourceclaims | create delete`,
  DRAResourceClaimGranularStatusAuthorization: `
    system:controller:resource-claim-controller
    - resource.k8s.io | resourceclaims/binding | patch update

    system:kube-scheduler
    - resource.k8s.io | resourceclaims/binding | patch update`,
  DynamicResourceAllocation: `
    system:aggregate-to-edit
    - resource.k8s.io | resourceclaims resourceclaimtemplates | write

    system:aggregate-to-view
    - resource.k8s.io | resourceclaims resourceclaims/status resourceclaimtemplates | read

    system:controller:resource-claim-controller

    system:kube-scheduler
    - resource.k8s.io | deviceclasses | read
    - resource.k8s.io | resourceclaims | read patch update
    - resource.k8s.io | resourceclaims/status | read patch update
    - resource.k8s.io | resourceslices | read
    - core | pods/finalizers | update

    system:node
    - resource.k8s.io | resourceclaims | get
    - resource.k8s.io | resourceslices | deletecollection`,
  KubeletServiceAccountTokenForCredentialProviders: `
    system:node
    - core | serviceaccounts | get`,
  VolumeAttributesClass: `
    system:controller:volumeattributesclass-protection-controller`,
}
