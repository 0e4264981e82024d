// The object that a body, a patch or a configuration brings must be the one that the path of the request addresses.
import { setMeta } from '../kinds/api-object.js'
import type { ApiObject } from '../kinds/kind.js'
import { metaOf, nameMismatch, placeInNamespace } from '../meta/object-meta.js'
import type { Target } from './resource-context.js'

/** The object in the namespace of the request; refused if it names another namespace or another object. */
export function asAddressed(object: ApiObject, { namespace, name }: Target): ApiObject {
  const meta = placeInNamespace(metaOf(object), namespace)
  const mismatch = nameMismatch(meta, name)
  if (mismatch) throw mismatch
  return setMeta(object, meta)
}
