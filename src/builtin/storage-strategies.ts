// What a write does to the kinds of storage.

import { ensureObject, has, keepFrom, objectAt, objectOrNone, textAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { TypeTable } from '../types/type-table.js'
import {
  clearStatus,
  countGeneration,
  type ForUpdate,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type Strategy,
  same,
} from './strategy-parts.js'

// ---- claims: where their content comes from can be said in an older and in a newer field

const claims: Strategy = {
  forCreate: claim => {
    claim['status'] = { phase: 'Pending' }
    settleSources(claim, {})
  },
  forUpdate: inTurn(keepGeneration, keepStatus, settleSources),
  forStatus: inTurn(keepGeneration, keepSpec),
  deleteAnswersObject: true,
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
  if (textAt(objectAt(spec, 'dataSourceRef'), 'namespace') !== '') return
  copyMissing(spec, 'dataSourceRef', 'dataSource')
  copyMissing(spec, 'dataSource', 'dataSourceRef')
}

function copyMissing(spec: ValueObject, to: string, from: string): void {
  const found = objectOrNone(spec, from)
  if (found === undefined || has(spec, to)) return
  spec[to] = { ...(has(found, 'apiGroup') && { apiGroup: found['apiGroup']! }), kind: '', name: '' }
  for (const field of ['kind', 'name']) objectAt(spec, to)[field] = textAt(found, field)
}

function isClaimOrSnapshot(source: ValueObject): boolean {
  const [group, kind] = [textAt(source, 'apiGroup'), textAt(source, 'kind')]
  if (group === '') return kind === 'PersistentVolumeClaim'
  return group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
}

// ---- volumes: their status knows when it came to its phase

const volumes: Strategy = {
  forCreate: (volume, { now }) => {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: now }
  },
  forUpdate: inTurn(keepGeneration, keepStatus),
  forStatus: inTurn(keepGeneration, keepSpec, (volume, old, { now }) => {
    const [status, before] = [ensureObject(volume, 'status'), objectAt(old, 'status')]
    if (textAt(status, 'phase') === textAt(before, 'phase')) keepFrom(status, before, 'lastPhaseTransitionTime')
    else if (same(status, before, 'lastPhaseTransitionTime')) status['lastPhaseTransitionTime'] = now
  }),
  deleteAnswersObject: true,
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

const countWishes: ForUpdate = (driver, old) => {
  const [spec, before] = [objectAt(driver, 'spec'), objectAt(old, 'spec')]
  if (!DRIVER_WISHES.every(field => same(spec, before, field))) countGeneration(driver, old)
}

const plain: Strategy = { forUpdate: keepGeneration, deleteAnswersObject: true }
const conditional: Strategy = { ...plain, unconditionalUpdate: false }

export const STORAGE_STRATEGIES: Readonly<Record<string, (table: TypeTable) => Strategy>> = {
  'v1 PersistentVolumeClaim': () => claims,
  'v1 PersistentVolume': () => volumes,
  'storage.k8s.io/v1 StorageClass': () => plain,
  'storage.k8s.io/v1 VolumeAttributesClass': () => plain,
  'storage.k8s.io/v1 CSIDriver': () => ({ ...conditional, forUpdate: inTurn(keepGeneration, countWishes) }),
  'storage.k8s.io/v1 CSINode': () => conditional,
  'storage.k8s.io/v1 CSIStorageCapacity': () => ({ forUpdate: keepGeneration, unconditionalUpdate: false }),
  'storage.k8s.io/v1 VolumeAttachment': table => ({
    ...conditional,
    forCreate: clearStatus(table, 'storage/v1.VolumeAttachmentStatus'),
    forUpdate: inTurn(keepGeneration, keepStatus),
    forStatus: inTurn(keepGeneration, keepSpec),
  }),
}
