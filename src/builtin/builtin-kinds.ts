// The built-in kinds: a `Kind` for each resource of the type table that can be read. A kind with behaviour of its own
// has a file in the folder of its API group, and one line in the list below.
import { keptBy } from '../base/memo.js'
import type { Kind } from '../kinds/kind.js'
import type { APIResource, TypeTable } from '../types/type-table.js'
import { groupOf } from '../types/typed-body.js'
import { mutatingAdmissionPolicies } from './admissionregistration/mutating-admission-policy.js'
import { mutatingAdmissionPolicyBindings } from './admissionregistration/mutating-admission-policy-binding.js'
import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration.js'
import { validatingAdmissionPolicies } from './admissionregistration/validating-admission-policy.js'
import { validatingAdmissionPolicyBindings } from './admissionregistration/validating-admission-policy-binding.js'
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration.js'
import { apiService } from './apiregistration/api-service.js'
import { storageVersion } from './apiserverinternal/storage-version.js'
import { controllerRevision } from './apps/controller-revision.js'
import { daemonSet } from './apps/daemon-set.js'
import { deployment } from './apps/deployment.js'
import { replicaSet } from './apps/replica-set.js'
import { statefulSet } from './apps/stateful-set.js'
import { autoscalerV1, autoscalerV2 } from './autoscaling/horizontal-pod-autoscaler.js'
import { cronJob } from './batch/cron-job.js'
import { job } from './batch/job.js'
import { certificateSigningRequest } from './certificates/certificate-signing-request.js'
import { clusterTrustBundles } from './certificates/cluster-trust-bundle.js'
import { podCertificateRequest } from './certificates/pod-certificate-request.js'
import { buildKind, type FindDefinition, type ResourceVersion } from './common/build-kind.js'
import { defineKind, type KindDefinition } from './common/define-kind.js'
import { lease } from './coordination/lease.js'
import { leaseCandidates } from './coordination/lease-candidate.js'
import { componentStatus } from './core/component-status.js'
import { configMap } from './core/config-map.js'
import { endpoints } from './core/endpoints.js'
import { event } from './core/event.js'
import { limitRange } from './core/limit-range.js'
import { namespace } from './core/namespace.js'
import { node } from './core/node.js'
import { persistentVolume } from './core/persistent-volume.js'
import { persistentVolumeClaim } from './core/persistent-volume-claim.js'
import { pod } from './core/pod/pod.js'
import { podTemplate } from './core/pod-template.js'
import { replicationController } from './core/replication-controller.js'
import { resourceQuota } from './core/resource-quota.js'
import { secret } from './core/secret.js'
import { service } from './core/service/service.js'
import { serviceAccount } from './core/service-account.js'
import { endpointSlice } from './discovery/endpoint-slice.js'
import { modernEvent } from './events/event.js'
import { flowSchema } from './flowcontrol/flow-schema.js'
import { priorityLevelConfiguration } from './flowcontrol/priority-level-configuration.js'
import { ingress } from './networking/ingress.js'
import { ingressClass } from './networking/ingress-class.js'
import { ipAddresses } from './networking/ip-address.js'
import { networkPolicy } from './networking/network-policy.js'
import { serviceCidrs } from './networking/service-cidr.js'
import { runtimeClass } from './node/runtime-class.js'
import { podDisruptionBudget } from './policy/pod-disruption-budget.js'
import { clusterRole, role } from './rbac/role.js'
import { clusterRoleBinding, roleBinding } from './rbac/role-binding.js'
import { deviceClasses } from './resource/device-class.js'
import { deviceTaintRules } from './resource/device-taint-rule.js'
import { resourceClaims } from './resource/resource-claim.js'
import { resourceClaimTemplates } from './resource/resource-claim-template.js'
import { resourcePoolStatusRequest } from './resource/resource-pool-status-request.js'
import { resourceSlices } from './resource/resource-slice.js'
import { priorityClass } from './scheduling/priority-class.js'
import { ERROR_GATES, isChanged, type KindSettings, withChangedParts, withSettings } from './settings/kind-settings.js'
import { csiDriver } from './storage/csi-driver.js'
import { csiNode } from './storage/csi-node.js'
import { csiStorageCapacity } from './storage/csi-storage-capacity.js'
import { storageClass } from './storage/storage-class.js'
import { volumeAttachment } from './storage/volume-attachment.js'
import { volumeAttributesClasses } from './storage/volume-attributes-class.js'
import { storageVersionMigration } from './storagemigration/storage-version-migration.js'

const KINDS: readonly KindDefinition[] = [
  // admissionregistration
  ...mutatingAdmissionPolicies,
  ...mutatingAdmissionPolicyBindings,
  mutatingWebhookConfiguration,
  ...validatingAdmissionPolicies,
  ...validatingAdmissionPolicyBindings,
  validatingWebhookConfiguration,
  // apiregistration
  apiService,
  // apiserverinternal
  storageVersion,
  // apps
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  // autoscaling
  autoscalerV1,
  autoscalerV2,
  // batch
  cronJob,
  job,
  // certificates
  certificateSigningRequest,
  ...clusterTrustBundles,
  podCertificateRequest,
  // coordination
  lease,
  ...leaseCandidates,
  // core
  componentStatus,
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  // discovery
  endpointSlice,
  // events
  modernEvent,
  // flowcontrol
  flowSchema,
  priorityLevelConfiguration,
  // networking
  ingress,
  ingressClass,
  ...ipAddresses,
  networkPolicy,
  ...serviceCidrs,
  // node
  runtimeClass,
  // policy
  podDisruptionBudget,
  // rbac
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  // resource
  ...deviceClasses,
  ...deviceTaintRules,
  ...resourceClaims,
  ...resourceClaimTemplates,
  resourcePoolStatusRequest,
  ...resourceSlices,
  // scheduling
  priorityClass,
  // storage
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  ...volumeAttributesClasses,
  // storagemigration
  storageVersionMigration,
]

/** The definition of a kind; an empty one for kinds that have no behaviour of their own. */
export const definitionOf = (apiVersion: string, kind: string): KindDefinition =>
  DEFINITIONS.get(`${apiVersion} ${kind}`) ?? defineKind(apiVersion, kind)

const DEFINITIONS: ReadonlyMap<string, KindDefinition> = new Map(
  KINDS.map(definition => [`${definition.apiVersion} ${definition.kind}`, definition]),
)

/** Groups whose kinds other rooms make, because their objects are instructions to the server itself. */
const SERVED_ELSEWHERE: ReadonlySet<string> = new Set(['apiextensions.k8s.io'])

export { fieldGates, withSettings } from './settings/kind-settings.js'

/** With the settings of a server that no flag has changed. They follow from the table alone: all servers of a process share them. */
export const builtinKinds = keptBy((table: TypeTable): readonly Kind[] => builtinKindsWith(table, {}))

export function builtinKindsWith(table: TypeTable, settings: KindSettings): Kind[] {
  const { featureGates = {} } = settings
  const isPlain = [...validationGates()].every(gate => !isChanged(featureGates, gate))
  const kinds = isPlain
    ? plainKinds(table)
    : kindsHere(table, (apiVersion, kind) => withChangedParts(definitionOf(apiVersion, kind), featureGates))
  return kinds.map(kind => withSettings(kind, settings))
}

/** The gates that change what is refused. */
export const validationGates = (): ReadonlySet<string> =>
  new Set([
    ...ERROR_GATES,
    'RestartAllContainersOnContainerExits',
    ...KINDS.flatMap(({ changedBy = {} }) => Object.keys(changedBy).flatMap(names => names.split(' '))),
  ])

const kindsHere = (table: TypeTable, definitions: FindDefinition): Kind[] =>
  readableKinds(table, group => !SERVED_ELSEWHERE.has(group), definitions)

const plainKinds = keptBy((table: TypeTable): readonly Kind[] => kindsHere(table, definitionOf))

/** The kinds of one group, for the room that adds its own behaviour to them. */
export const kindsOfGroup = (table: TypeTable, group: string): Kind[] =>
  readableKinds(table, each => each === group, definitionOf)

function readableKinds(table: TypeTable, isIncluded: (group: string) => boolean, definitions: FindDefinition): Kind[] {
  const byResource = new Map<string, ResourceVersion[]>()
  for (const apiVersion of [...table.groupVersions(), ...table.optionalVersions()]) {
    if (!isIncluded(groupOf(apiVersion))) continue
    for (const resource of table.resources(apiVersion)) {
      if (!isRead(resource)) continue
      const id = `${groupOf(apiVersion)}/${resource.name}`
      byResource.set(id, [...(byResource.get(id) ?? []), { apiVersion, resource }])
    }
  }
  return [...byResource.values()].map(versions => buildKind(table, versions, definitions))
}

/** Reviews, bindings and the like are answered but cannot be read. */
const isRead = ({ name, verbs }: APIResource): boolean =>
  !name.includes('/') && ['get', 'list'].every(verb => verbs.includes(verb))
