// Which rules an object of a built-in kind must meet, as a table from kind to rules.

import { type Validation } from '../common/validation.js'
import { priorityClassValidation, runtimeClassValidation } from './classes.js'
import {
  csiDriverValidation,
  csiNodeValidation,
  csiStorageCapacityValidation,
  volumeAttachmentValidation,
} from './csi.js'
import { disruptionBudgetValidation } from './disruption-budgets.js'
import { modernEventValidation } from './events.js'
import { leaseValidation } from './plain-objects.js'
import { clusterRoleBindingValidation, clusterRoleValidation, roleBindingValidation, roleValidation } from './rbac.js'
import { storageClassValidation, volumeAttributesClassValidation } from './storage-classes.js'

export const VALIDATIONS: Readonly<Record<string, Validation | undefined>> = {
  'events.k8s.io/v1 Event': modernEventValidation,
  'coordination.k8s.io/v1 Lease': leaseValidation,
  'node.k8s.io/v1 RuntimeClass': runtimeClassValidation,
  'scheduling.k8s.io/v1 PriorityClass': priorityClassValidation,
  'policy/v1 PodDisruptionBudget': disruptionBudgetValidation,
  'storage.k8s.io/v1 StorageClass': storageClassValidation,
  'storage.k8s.io/v1 VolumeAttributesClass': volumeAttributesClassValidation,
  'storage.k8s.io/v1 CSIDriver': csiDriverValidation,
  'storage.k8s.io/v1 CSINode': csiNodeValidation,
  'storage.k8s.io/v1 CSIStorageCapacity': csiStorageCapacityValidation,
  'storage.k8s.io/v1 VolumeAttachment': volumeAttachmentValidation,
  'rbac.authorization.k8s.io/v1 Role': roleValidation,
  'rbac.authorization.k8s.io/v1 ClusterRole': clusterRoleValidation,
  'rbac.authorization.k8s.io/v1 RoleBinding': roleBindingValidation,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': clusterRoleBindingValidation,
}
