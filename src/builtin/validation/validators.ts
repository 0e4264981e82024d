// Which rules an object of a built-in kind must meet, as a table from kind to rules.

import { type Validation } from '../common/validation.js'
import {
  mutatingBindingValidation,
  mutatingPolicyValidation,
  validatingBindingValidation,
  validatingPolicyValidation,
} from './admission-policies.js'
import { apiServiceValidation } from './api-services.js'
import { autoscalerValidation, olderAutoscalerValidation } from './autoscalers.js'
import { priorityClassValidation, runtimeClassValidation } from './classes.js'
import {
  csiDriverValidation,
  csiNodeValidation,
  csiStorageCapacityValidation,
  volumeAttachmentValidation,
} from './csi.js'
import { deviceClassValidation, resourceClaimTemplateValidation, resourceClaimValidation } from './devices.js'
import { disruptionBudgetValidation } from './disruption-budgets.js'
import { endpointSliceValidation } from './endpoint-slices.js'
import { coreEventValidation, modernEventValidation } from './events.js'
import { flowSchemaValidation, priorityLevelValidation } from './flow-control.js'
import { ingressClassValidation } from './ingress-classes.js'
import { cronJobValidation, jobValidation } from './jobs.js'
import { ipAddressValidation, serviceCidrValidation } from './network-addresses.js'
import { networkPolicyValidation } from './network-policies.js'
import { leaseValidation } from './plain-objects.js'
import { clusterRoleBindingValidation, clusterRoleValidation, roleBindingValidation, roleValidation } from './rbac.js'
import { signingRequestValidation } from './signing-requests.js'
import { storageClassValidation, volumeAttributesClassValidation } from './storage-classes.js'
import { storageMigrationValidation } from './storage-migrations.js'
import { mutatingWebhooksValidation, validatingWebhooksValidation } from './webhook-configurations.js'

export const VALIDATIONS: Readonly<Record<string, Validation | undefined>> = {
  'v1 Event': coreEventValidation,
  'events.k8s.io/v1 Event': modernEventValidation,
  'coordination.k8s.io/v1 Lease': leaseValidation,
  'node.k8s.io/v1 RuntimeClass': runtimeClassValidation,
  'scheduling.k8s.io/v1 PriorityClass': priorityClassValidation,
  'batch/v1 Job': jobValidation,
  'batch/v1 CronJob': cronJobValidation,
  'discovery.k8s.io/v1 EndpointSlice': endpointSliceValidation,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicyValidation,
  'networking.k8s.io/v1 IngressClass': ingressClassValidation,
  'autoscaling/v1 HorizontalPodAutoscaler': olderAutoscalerValidation,
  'autoscaling/v2 HorizontalPodAutoscaler': autoscalerValidation,
  'policy/v1 PodDisruptionBudget': disruptionBudgetValidation,
  'networking.k8s.io/v1 IPAddress': ipAddressValidation,
  'networking.k8s.io/v1 ServiceCIDR': serviceCidrValidation,
  'storage.k8s.io/v1 StorageClass': storageClassValidation,
  'storage.k8s.io/v1 VolumeAttributesClass': volumeAttributesClassValidation,
  'storage.k8s.io/v1 CSIDriver': csiDriverValidation,
  'storage.k8s.io/v1 CSINode': csiNodeValidation,
  'storage.k8s.io/v1 CSIStorageCapacity': csiStorageCapacityValidation,
  'storage.k8s.io/v1 VolumeAttachment': volumeAttachmentValidation,
  'certificates.k8s.io/v1 CertificateSigningRequest': signingRequestValidation,
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema': flowSchemaValidation,
  'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration': priorityLevelValidation,
  'apiregistration.k8s.io/v1 APIService': apiServiceValidation,
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration': validatingWebhooksValidation,
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': mutatingWebhooksValidation,
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy': validatingPolicyValidation,
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy': mutatingPolicyValidation,
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding': validatingBindingValidation,
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding': mutatingBindingValidation,
  'resource.k8s.io/v1 DeviceClass': deviceClassValidation,
  'resource.k8s.io/v1 ResourceClaim': resourceClaimValidation,
  'resource.k8s.io/v1 ResourceClaimTemplate': resourceClaimTemplateValidation,
  'storagemigration.k8s.io/v1beta1 StorageVersionMigration': storageMigrationValidation,
  'rbac.authorization.k8s.io/v1 Role': roleValidation,
  'rbac.authorization.k8s.io/v1 ClusterRole': clusterRoleValidation,
  'rbac.authorization.k8s.io/v1 RoleBinding': roleBindingValidation,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': clusterRoleBindingValidation,
}
