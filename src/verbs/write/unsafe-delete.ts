// Deletes an object that cannot be decoded, without finalizers or admission. An object that can be decoded must be deleted
// in the usual way.

import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { invalid, StatusError, success } from '../../meta/errors/status.js'
import { asStatus } from '../../objects/storage-status.js'
import type { ResourceRequest } from '../../request/request.js'
import { type ApiContext } from '../api-context.js'
import type { StatusResult } from '../result.js'

const OPTION = 'ignoreStoreReadErrorWithClusterBreakingPotential'

/** Needed beside the permission to delete. */
const VERB = 'unsafe-delete-ignore-read-errors'

export async function deleteUnreadable(context: ApiContext, request: ResourceRequest): Promise<StatusResult> {
  const { target } = request
  const { kind, namespace, name } = target
  await context.permit(VERB, target, request.user)
  const store = context.objectStore(kind)
  const entry = await asStatus(0, () => store.get(namespace, name))
  const isUnreadable = entry !== undefined && !(await canBeShown(() => store.views.view(target, entry, request)))
  if (!isUnreadable || (await asStatus(0, () => store.delete(namespace, name, entry.revision))) === false) {
    const why = 'is exclusively used to delete corrupt object(s), try again by removing this option'
    throw invalid({ group: kind.group, kind: kind.names.plural }, name, [fieldInvalid(OPTION, true, why)])
  }
  return { type: 'status', status: 200, body: success({ name, kind: kind.names.kind }, 200) }
}

async function canBeShown(show: () => unknown): Promise<boolean> {
  try {
    await show()
    return true
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}
