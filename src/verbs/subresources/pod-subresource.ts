// What binding and eviction of pods have in common.
import type { Kind } from '../../kinds/kind.js'
import { badRequest, success } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Target } from '../../request/target.js'
import type { VirtualRequest } from '../../request/virtual-resource.js'

/** Binding and eviction answer a bare Success status with code 201. */
export const DONE = success(undefined, 201) as unknown as ApiObject

export const podTarget = (pods: Kind, namespace: string, name: string, subresource: string): Target => ({
  kind: pods,
  version: pods.versions[0]!,
  namespace,
  name,
  subresource,
})

export function checkName({ object, name }: VirtualRequest, kind: string): void {
  if (name !== '' && metaOf(object).name !== name) throw badRequest(`name in URL does not match name in ${kind} object`)
}
