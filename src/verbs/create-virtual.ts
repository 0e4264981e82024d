// create of a virtual resource: the body is decoded, and the answer is not stored.
import { setMeta } from '../meta/object/api-object.js'
import { metaOf, setRequestNamespace } from '../meta/object/object-meta.js'
import { parseCreateOptions } from '../meta/options/write-options.js'
import type { Body } from '../request/body.js'
import type { Request } from '../request/request.js'
import type { VirtualResource, VirtualResult, VirtualTarget } from '../request/virtual-resource.js'
import { readObject } from './pipeline/decode-body.js'

/** A dry run of what has no effect is answered like any other. */
export async function createVirtual(
  request: Request,
  { body: form, answer }: VirtualResource,
  target: VirtualTarget,
  query: URLSearchParams,
  body: Body,
): Promise<VirtualResult> {
  const options = parseCreateOptions(query)
  const sent = readObject(request, body, form, options.fieldValidation)
  const placed = setMeta(sent, setRequestNamespace(metaOf(sent), target.namespace))
  const object = await answer({ ...target, request, object: placed, options })
  return { type: 'virtual', status: 201, object }
}
