// Why an object that is being deleted is still there.
import type { ApiObject } from '../../api/resource.js'
import { conditionsOf } from './conditions.js'

export function whyDeletionWaits(object: ApiObject, now: number): readonly string[] {
  const { metadata, spec } = object as ApiObject & { spec?: { finalizers?: readonly string[] } }
  const reasons: string[] = []
  for (const finalizer of metadata.finalizers ?? []) {
    if (finalizer === 'foregroundDeletion') reasons.push('Objects that it owns are deleted first (foregroundDeletion).')
    else if (finalizer === 'orphan')
      reasons.push('The garbage collector removes the owner from its dependents (orphan).')
    else reasons.push(`The finalizer ${finalizer} is still there: its controller removes it when it has cleaned up.`)
  }
  // A namespace has its finalizers in the spec, and says in conditions what remains.
  if (object.kind === 'Namespace') {
    for (const { status, message } of conditionsOf(object))
      if (status === 'True' && message !== '') reasons.push(message)
    if (reasons.length === 0 && (spec?.finalizers ?? []).length > 0) reasons.push('Its content is being deleted.')
  }
  const end = Date.parse(metadata.deletionTimestamp ?? '')
  if (reasons.length === 0 && (metadata.deletionGracePeriodSeconds ?? 0) > 0) {
    const left = Math.ceil((end - now) / 1000)
    const grace = `its grace period of ${metadata.deletionGracePeriodSeconds} s`
    reasons.push(left > 0 ? `It has ${left} s left of ${grace}.` : `The node has not confirmed the end of ${grace}.`)
  }
  return reasons.length === 0 ? ['The server is about to remove it.'] : reasons
}
