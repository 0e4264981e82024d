// The owner reference of a controller: which object manages another one, and taking over or giving up objects by the
// labels that a selector wants.
import { type LabelSelector, matchesLabels } from '../../meta/selectors/label-selectors.js'
import type { WorkloadObject } from '../api/objects.js'
import { controllerOf } from './controller-of.js'
import type { SharedObjects } from './shared-objects.js'
import type { Writes } from './writes.js'

export const isControlledBy = (object: WorkloadObject, owner: WorkloadObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid

/** The reference by which the object of a workload names its controller. */
export const controllerRef = ({ apiVersion, kind, metadata: { name, uid } }: WorkloadObject) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})

/**
 * The objects that belong to the owner by its selector. Those without a controller that match are adopted; those of the
 * owner that no longer match are released.
 */
export async function claim<T extends WorkloadObject>(
  owner: WorkloadObject,
  selector: LabelSelector,
  objects: SharedObjects<T>,
  writes: Writes,
  isClaimable: (object: T) => boolean = () => true,
): Promise<T[]> {
  const { namespace = '', deletionTimestamp } = owner.metadata
  const claimed: T[] = []
  for (const object of objects.ownedBy(owner.metadata.uid)) {
    if (matchesLabels(selector, object.metadata.labels ?? {}) && isClaimable(object)) claimed.push(object)
    else if (deletionTimestamp === undefined) await release(owner, object, objects, writes)
  }
  if (deletionTimestamp !== undefined) return claimed
  for (const object of objects.orphans(namespace)) {
    if (object.metadata.deletionTimestamp !== undefined) continue
    if (!matchesLabels(selector, object.metadata.labels ?? {}) || !isClaimable(object)) continue
    const adopted = await adopt(owner, object, objects, writes)
    if (adopted) claimed.push(adopted)
  }
  return claimed
}

async function release<T extends WorkloadObject>(
  owner: WorkloadObject,
  object: T,
  objects: SharedObjects<T>,
  writes: Writes,
): Promise<void> {
  await writes.update(objects, object, old => {
    const ownerReferences = (old.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid)
    if (ownerReferences.length === old.metadata.ownerReferences?.length) return undefined
    const { ownerReferences: _, ...rest } = old.metadata
    return { ...old, metadata: ownerReferences.length === 0 ? rest : { ...rest, ownerReferences } }
  })
}

async function adopt<T extends WorkloadObject>(
  owner: WorkloadObject,
  object: T,
  objects: SharedObjects<T>,
  writes: Writes,
): Promise<T | undefined> {
  const adopted = await writes.update(objects, object, old => {
    if (controllerOf(old) || old.metadata.deletionTimestamp !== undefined) return undefined
    const ownerReferences = [...(old.metadata.ownerReferences ?? []), controllerRef(owner)]
    return { ...old, metadata: { ...old.metadata, ownerReferences } }
  })
  return adopted && isControlledBy(adopted, owner) ? adopted : undefined
}
