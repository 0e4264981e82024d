// What a write does to the kinds of storage.

import { objectAt } from '../meta/values/access.js'
import type { TypeTable } from '../types/type-table.js'
import {
  type BuiltinStrategy,
  clearStatus,
  countGeneration,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
  same,
} from './common/strategies.js'

// ---- drivers: what they ask of nodes can change, and is counted

const DRIVER_WISHES = [
  'podInfoOnMount',
  'storageCapacity',
  'fsGroupPolicy',
  'tokenRequests',
  'requiresRepublish',
  'seLinuxMount',
  'nodeAllocatableUpdatePeriodSeconds',
  'serviceAccountTokenInSecrets',
]

const countWishes: PrepareForUpdate = (driver, old) => {
  const [spec, before] = [objectAt(driver, 'spec'), objectAt(old, 'spec')]
  if (!DRIVER_WISHES.every(field => same(spec, before, field))) countGeneration(driver, old)
}

const plain: BuiltinStrategy = { prepareForUpdate: keepGeneration, returnsDeletedObject: true }
const conditional: BuiltinStrategy = { ...plain, allowUnconditionalUpdate: false }

export const STORAGE_STRATEGIES: Readonly<Record<string, (table: TypeTable) => BuiltinStrategy>> = {
  'storage.k8s.io/v1 StorageClass': () => plain,
  'storage.k8s.io/v1 VolumeAttributesClass': () => plain,
  'storage.k8s.io/v1 CSIDriver': () => ({ ...conditional, prepareForUpdate: inTurn(keepGeneration, countWishes) }),
  'storage.k8s.io/v1 CSINode': () => conditional,
  'storage.k8s.io/v1 CSIStorageCapacity': () => ({ prepareForUpdate: keepGeneration, allowUnconditionalUpdate: false }),
  'storage.k8s.io/v1 VolumeAttachment': table => ({
    ...conditional,
    prepareForCreate: clearStatus(table, 'storage/v1.VolumeAttachmentStatus'),
    prepareForUpdate: inTurn(keepGeneration, keepStatus),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
  }),
}
