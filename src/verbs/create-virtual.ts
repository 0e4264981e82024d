// create of a virtual resource: the body is read, and what is answered is kept nowhere.
import { setMeta } from '../meta/object/api-object.js'
import { metaOf, placeInNamespace } from '../meta/object/object-meta.js'
import { parseCreateOptions } from '../meta/options/write-options.js'
import type { Body } from '../request/body.js'
import type { VirtualResource, VirtualResult, VirtualTarget } from '../request/virtual-resource.js'
import { readObject } from './pipeline/decode-body.js'

/** What has no effect is answered in a dry run like any other. */
export async function createVirtual(
  { body: form, answer }: VirtualResource,
  place: VirtualTarget,
  query: URLSearchParams,
  body: Body,
): Promise<VirtualResult> {
  const options = parseCreateOptions(query)
  const { object: sent, warnings } = readObject(body, form, options.fieldValidation)
  const told = [...warnings]
  const placed = setMeta(sent, placeInNamespace(metaOf(sent), place.namespace))
  const object = await answer({ ...place, object: placed, options, warn: text => void told.push(text) })
  return { type: 'virtual', status: 201, warnings: told, object }
}
