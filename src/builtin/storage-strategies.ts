// What a write does to the kinds of storage.

import { ensureObject, has, keepFrom, objectAt, objectOrNone, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
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

// ---- claims: where their content comes from can be said in an older and in a newer field

const claims: BuiltinStrategy = {
  prepareForCreate: claim => {
    claim['status'] = { phase: 'Pending' }
    settleSources(claim, {})
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus, settleSources),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
  returnsDeletedObject: true,
}

/** The older field knows few kinds; what else it says is dropped without a word. Then both say the same. */
function settleSources(claim: ValueObject, old: ValueObject): void {
  const spec = ensureObject(claim, 'spec')
  const before = objectAt(old, 'spec')
  const source = objectOrNone(spec, 'dataSource')
  const inUse = has(before, 'dataSource') || has(before, 'dataSourceRef')
  if (source !== undefined && !inUse && !isClaimOrSnapshot(source)) delete spec['dataSource']
  const ref = objectOrNone(spec, 'dataSourceRef')
  // Sources in other namespaces are not on.
  if (ref !== undefined && !has(objectAt(before, 'dataSourceRef'), 'namespace')) delete ref['namespace']
  if (stringAt(objectAt(spec, 'dataSourceRef'), 'namespace') !== '') return
  copyMissing(spec, 'dataSourceRef', 'dataSource')
  copyMissing(spec, 'dataSource', 'dataSourceRef')
}

function copyMissing(spec: ValueObject, to: string, from: string): void {
  const found = objectOrNone(spec, from)
  if (found === undefined || has(spec, to)) return
  spec[to] = { ...(has(found, 'apiGroup') && { apiGroup: found['apiGroup']! }), kind: '', name: '' }
  for (const field of ['kind', 'name']) objectAt(spec, to)[field] = stringAt(found, field)
}

function isClaimOrSnapshot(source: ValueObject): boolean {
  const [group, kind] = [stringAt(source, 'apiGroup'), stringAt(source, 'kind')]
  if (group === '') return kind === 'PersistentVolumeClaim'
  return group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
}

// ---- volumes: their status knows when it came to its phase

const volumes: BuiltinStrategy = {
  prepareForCreate: (volume, { now }) => {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: now }
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, (volume, old, { now }) => {
    const [status, before] = [ensureObject(volume, 'status'), objectAt(old, 'status')]
    if (stringAt(status, 'phase') === stringAt(before, 'phase')) keepFrom(status, before, 'lastPhaseTransitionTime')
    else if (same(status, before, 'lastPhaseTransitionTime')) status['lastPhaseTransitionTime'] = now
  }),
  returnsDeletedObject: true,
}

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
  'v1 PersistentVolumeClaim': () => claims,
  'v1 PersistentVolume': () => volumes,
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
