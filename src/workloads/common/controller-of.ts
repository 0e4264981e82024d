// Which object manages another one.
import type { OwnerReference } from '../../meta/object/object-meta.js'
import type { WorkloadObject } from '../api/objects.js'

export const controllerOf = ({ metadata }: WorkloadObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)
