// Owner references that are written twice: one of them is kept, and the client is warned.

import { encodeJson } from '../../codec/json.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf, type OwnerReference } from '../../meta/object/object-meta.js'
import type { Value } from '../../meta/values/value.js'
import type { Request } from '../../request/request.js'

/** When the references are merged: as the client sent them, or after mutating admission, which may add some. */
export type MergeTime = 'sent' | 'admitted'

export function mergeOwnerReferences(request: Pick<Request, 'warn'>, object: ApiObject, time: MergeTime): ApiObject {
  const { ownerReferences } = metaOf(object)
  if (ownerReferences === undefined || ownerReferences.length < 2) return object
  // References with the same uid may differ in other fields; then both are kept.
  const kept: OwnerReference[] = []
  const keptIds = new Set<string>()
  const duplicates: string[] = []
  for (const reference of ownerReferences) {
    const id = encodeJson(reference as unknown as Value, { sortKeys: true })
    if (keptIds.has(id)) duplicates.push(reference.uid)
    else {
      keptIds.add(id)
      kept.push(reference)
    }
  }
  if (duplicates.length === 0) return object
  request.warn(`.metadata.ownerReferences contains duplicate entries${WHEN[time]}${ADVICE}${duplicates.join(', ')}`)
  return setMeta(object, { ...metaOf(object), ownerReferences: kept })
}

const WHEN: Readonly<Record<MergeTime, string>> = { sent: '', admitted: ' after mutating admission happens' }

const ADVICE =
  '; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: '
