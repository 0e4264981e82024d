// The object of a body, a patch or an applied configuration must be the one that the path addresses.

import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf, nameMismatch, setRequestNamespace } from '../../meta/object/object-meta.js'
import { type Target } from '../../request/target.js'

/** The object in the namespace of the request; refused if it names another namespace or another object. */
export function checkAddress(object: ApiObject, { namespace, name }: Target): ApiObject {
  const given = metaOf(object)
  const isThere = given.namespace === (namespace === '' ? undefined : namespace)
  const meta = isThere ? given : setRequestNamespace(given, namespace)
  const mismatch = nameMismatch(meta, name)
  if (mismatch) throw mismatch
  return isThere ? object : setMeta(object, meta)
}
