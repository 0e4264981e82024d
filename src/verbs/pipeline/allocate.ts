// Allocation: kinds whose objects take something from a shared pool get it before they are validated.

import type { Allocated } from '../../kinds/kind.js'
import { groupKindOf } from '../../kinds/kind-names.js'
import { invalid } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ResourceRequest } from '../../request/request.js'
import type { PipelineEnv } from './pipeline-env.js'

/** Fills in what the object lacks. Writes to subresources allocate nothing. */
export async function allocate(
  env: PipelineEnv,
  { target, dryRun }: ResourceRequest,
  object: ApiObject,
  old: ApiObject | undefined,
): Promise<Allocated | undefined> {
  const allocation = target.subresource === '' ? env.allocationOf(target.kind) : undefined
  if (!allocation) return undefined
  const allocated = await allocation.allocate(object, old, dryRun)
  if (allocated.errors.length === 0) return allocated
  throw invalid(groupKindOf(target.kind), metaOf(object).name ?? '', allocated.errors)
}
