// A definition that is in use, from what was written of it.

import { encodeJson } from '../../codec/json.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { OfflineApi } from '../offline-api.js'

const KIND = 'CustomResourceDefinition'

/**
 * The definition in v1, with its status, on which the rules of its updates depend. A manifest has none: then it is as if
 * it had just been created. Its kind is served by the API from now on.
 */
export async function definitionInUse(api: OfflineApi, written: ValueObject): Promise<ApiObject> {
  const of = api.find(stringAt(written, 'apiVersion'), KIND) ?? api.find('apiextensions.k8s.io/v1', KIND)!
  const stored = await of.kind.convert(api.asStored(of, written), of.kind.storedAs)
  const body = { bytes: Buffer.from(encodeJson(written)), mediaType: 'application/json' }
  const created = 'status' in written ? undefined : (await api.create(of, body)).prepared?.stored
  const known = created === undefined ? stored : setMeta(created, { ...metaOf(created), resourceVersion: '1' })
  return api.keep(known).definition ?? known
}
