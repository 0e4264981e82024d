// Which kinds kube-apiserver's scheme knows beside those of the type table: older versions that it no longer serves, and the
// kinds of meta/v1, which are in every group version.
import { groupVersionKind } from '../meta/group-version.js'
import type { Type, Types } from './type.js'

const OLDER = new Map(
  `
  admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
  admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
  apiregistration.k8s.io/v1beta1 APIService
  apps/v1beta1 ControllerRevision Deployment Scale StatefulSet
  apps/v1beta2 ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet
  authentication.k8s.io/v1alpha1 SelfSubjectReview
  authentication.k8s.io/v1beta1 SelfSubjectReview TokenReview
  authorization.k8s.io/v1beta1 LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
  batch/v1beta1 CronJob
  certificates.k8s.io/v1beta1 CertificateSigningRequest
  coordination.k8s.io/v1beta1 Lease
  discovery.k8s.io/v1beta1 EndpointSlice
  events.k8s.io/v1beta1 Event
  extensions/v1beta1 DaemonSet Deployment Ingress NetworkPolicy ReplicaSet Scale
  flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema PriorityLevelConfiguration
  flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema PriorityLevelConfiguration
  flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema PriorityLevelConfiguration
  networking.k8s.io/v1beta1 Ingress IngressClass
  node.k8s.io/v1alpha1 RuntimeClass
  node.k8s.io/v1beta1 RuntimeClass
  policy/v1beta1 Eviction PodDisruptionBudget
  rbac.authorization.k8s.io/v1alpha1 ClusterRole ClusterRoleBinding Role RoleBinding
  rbac.authorization.k8s.io/v1beta1 ClusterRole ClusterRoleBinding Role RoleBinding
  resource.k8s.io/v1beta1 DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
  scheduling.k8s.io/v1beta1 PriorityClass
  storage.k8s.io/v1alpha1 CSIStorageCapacity VolumeAttachment VolumeAttributesClass
  storage.k8s.io/v1beta1 CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment
  `
    .trim()
    .split('\n')
    .map(line => {
      const [version, ...kinds] = line.trim().split(' ')
      return [version!, new Set(kinds)] as const
    }),
)

/** Kinds without a version: they are known in every one, even in those that do not exist. */
const UNVERSIONED: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
])
const IN_EVERY_GROUP: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
])

export interface RegisteredKind {
  /** The version of its package in Go. */
  readonly version: string
  /** Its own type, or that of the newest version; unknown for kinds of which only the name is known. */
  readonly type?: Type | undefined
}

/** A kind as the scheme knows it; undefined if it does not. */
export function registeredKind(types: Types, apiVersion: string, kind: string): RegisteredKind | undefined {
  if (UNVERSIONED.has(kind) || (IN_EVERY_GROUP.has(kind) && hasVersion(types, apiVersion))) {
    return { version: 'v1', type: types.ofKind('v1', kind) }
  }
  if (apiVersion === 'meta.k8s.io/v1') return undefined
  const type = types.ofKind(apiVersion, kind)
  return type || OLDER.get(apiVersion)?.has(kind)
    ? { version: groupVersionKind(apiVersion, kind).version, type }
    : undefined
}

const hasVersion = (types: Types, apiVersion: string): boolean =>
  OLDER.has(apiVersion) || types.ofKind(apiVersion, 'WatchEvent') !== undefined

/** Whether two versions of a kind have the same internal type. */
export const haveOneType = (a: string, b: string, kind: string): boolean =>
  internalGroup(a, kind) === internalGroup(b, kind)

function internalGroup(apiVersion: string, kind: string): string {
  const { group } = groupVersionKind(apiVersion, kind)
  if (kind === 'Scale') return 'autoscaling'
  if (group === 'events.k8s.io') return ''
  if (group !== 'extensions') return group
  return kind === 'Ingress' || kind === 'NetworkPolicy' ? 'networking.k8s.io' : 'apps'
}
