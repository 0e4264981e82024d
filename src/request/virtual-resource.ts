// Resources that are answered, not kept: reviews, and parts of a stored object to which an object of another kind is sent.
// They stand beside the registry: what there is of them is known when the server starts.
import type { ApiObject } from '../meta/object/api-object.js'
import type { WriteOptions } from '../meta/options/write-options.js'
import type { ResourceFacts } from '../types/type-table.js'
import type { BodySpec } from './body.js'
import type { Request } from './request.js'

export interface VirtualResource {
  /** The group version that serves it: `authorization.k8s.io/v1`. */
  readonly apiVersion: string
  /** As discovery lists it. Its name is that of the resource, or of a part of one: `serviceaccounts/token`. */
  readonly resource: ResourceFacts
  /** How bodies are read. */
  readonly body: BodySpec
  /** The answer to what was sent. Faults are thrown, as StatusErrors. */
  answer(request: VirtualRequest): Promise<ApiObject>
}

export interface VirtualRequest {
  readonly request: Request
  /** In the namespace of the request. */
  readonly object: ApiObject
  /** Empty at the cluster scope. */
  readonly namespace: string
  /** Of the object that the path names, empty if it names none. */
  readonly name: string
  readonly now: number
  readonly options: WriteOptions
}

export type VirtualTarget = Pick<VirtualRequest, 'namespace' | 'name' | 'now'>

/** An object that was made for the answer, and is kept nowhere. */
export interface VirtualResult {
  readonly type: 'virtual'
  readonly status: number
  readonly object: ApiObject
}
