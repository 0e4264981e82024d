// Versions that kube-apiserver reads from etcd and does not serve any more. An object that was not written since such a
// version was current is still in it. Their kinds have the same fields as the version in which they are read here.
import { type ApiObject } from '../meta/object/api-object.js'
import { has, objectAt, objectsAt } from '../meta/values/access.js'
import { selectorOfV1beta1 } from './policy/budget-selector.js'

export interface OldVersion {
  /** The version in which its objects are read. */
  readonly apiVersion: string
  /** What the same fields mean in that version, where it is not the same. */
  readonly convert?: ((object: ApiObject) => ApiObject) | undefined
}

const KINDS: Readonly<Record<string, string>> = {
  'admissionregistration.k8s.io/v1beta1': 'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
  'apps/v1beta1': 'ControllerRevision StatefulSet',
  'apps/v1beta2': 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet',
  'batch/v1beta1': 'CronJob',
  'certificates.k8s.io/v1beta1': 'CertificateSigningRequest',
  'coordination.k8s.io/v1beta1': 'Lease',
  'flowcontrol.apiserver.k8s.io/v1beta1': 'FlowSchema',
  'flowcontrol.apiserver.k8s.io/v1beta2': 'FlowSchema',
  'flowcontrol.apiserver.k8s.io/v1beta3': 'FlowSchema PriorityLevelConfiguration',
  'networking.k8s.io/v1beta1': 'IngressClass',
  'node.k8s.io/v1beta1': 'RuntimeClass',
  'policy/v1beta1': 'PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1beta1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'scheduling.k8s.io/v1beta1': 'PriorityClass',
  'storage.k8s.io/v1alpha1': 'VolumeAttachment',
  'storage.k8s.io/v1beta1': 'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment',
}

export function oldVersions(): ReadonlyMap<string, ReadonlyMap<string, OldVersion>> {
  return new Map(
    Object.entries(KINDS).map(([old, kinds]) => {
      const apiVersion = `${old.split('/')[0]}/v1`
      return [old, new Map(kinds.split(' ').map(kind => [kind, { apiVersion, convert: CONVERSIONS[old] }]))]
    }),
  )
}

const CONVERSIONS: Readonly<Record<string, OldVersion['convert']>> = {
  'admissionregistration.k8s.io/v1beta1': convertWebhooks,
  'policy/v1beta1': convertBudget,
}

/** Those that are others than in v1. They count for fields that were added after the object was written. */
const WEBHOOK_DEFAULTS = {
  admissionReviewVersions: ['v1beta1'],
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  sideEffects: 'Unknown',
  timeoutSeconds: 30,
}

function convertWebhooks(configuration: ApiObject): ApiObject {
  for (const webhook of objectsAt(configuration, 'webhooks')) {
    for (const [field, value] of Object.entries(WEBHOOK_DEFAULTS)) webhook[field] ??= value
  }
  return configuration
}

function convertBudget(budget: ApiObject): ApiObject {
  const spec = objectAt(budget, 'spec')
  if (!has(spec, 'selector')) return budget
  return { ...budget, spec: { ...spec, selector: selectorOfV1beta1(objectAt(spec, 'selector')) } }
}
