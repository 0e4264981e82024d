// Resources that are answered, not kept: reviews, and parts of a stored object to which an object of another kind is sent.
// They stand beside the registry: what there is of them is known when the server starts.
import type { ResourceFacts } from '../builtin/type-table.js'
import { setMeta } from '../kinds/api-object.js'
import type { ApiObject } from '../kinds/kind.js'
import { metaOf, placeInNamespace } from '../meta/object-meta.js'
import { parseCreateOptions, type WriteOptions } from '../meta/write-options.js'
import type { VirtualAnswer } from './answer.js'
import { type Body, type BodyForm, readObject } from './body.js'
import type { Caller } from './resource-context.js'

export interface VirtualKind {
  /** The group version that serves it: `authorization.k8s.io/v1`. */
  readonly apiVersion: string
  /** As discovery lists it. Its name is that of the resource, or of a part of one: `serviceaccounts/token`. */
  readonly facts: ResourceFacts
  /** How bodies are read. */
  readonly form: BodyForm
  /** The answer to what was sent. Faults are thrown, as StatusErrors. */
  answer(request: VirtualRequest): Promise<ApiObject>
}

export interface VirtualRequest {
  readonly caller: Caller
  /** In the namespace of the request. */
  readonly object: ApiObject
  /** Empty at the cluster scope. */
  readonly namespace: string
  /** Of the object that the path names, empty if it names none. */
  readonly name: string
  readonly now: number
  readonly options: WriteOptions
  warn(text: string): void
}

export type VirtualPlace = Pick<VirtualRequest, 'caller' | 'namespace' | 'name' | 'now'>

/** What has no effect is answered in a dry run like any other. */
export async function createVirtual(
  { form, answer }: VirtualKind,
  place: VirtualPlace,
  query: URLSearchParams,
  body: Body,
): Promise<VirtualAnswer> {
  const options = parseCreateOptions(query)
  const { object: sent, warnings } = readObject(body, form, options.fieldValidation)
  const told = [...warnings]
  const placed = setMeta(sent, placeInNamespace(metaOf(sent), place.namespace))
  const object = await answer({ ...place, object: placed, options, warn: text => void told.push(text) })
  return { type: 'virtual', status: 201, warnings: told, object }
}
