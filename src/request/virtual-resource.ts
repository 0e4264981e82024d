// Resources that are answered and not stored: reviews, and subresources that take an object of another kind than their
// parent's, such as pods/binding. The server knows all of them when it starts; they are not in the registry.
import type { Awaitable } from '../base/awaitable.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { WriteOptions } from '../meta/options/write-options.js'
import type { APIResource } from '../types/type-table.js'
import type { BodySpec } from './body.js'
import type { RequestWithOptions } from './request.js'

export interface VirtualResource {
  /** The group version that serves it: `authorization.k8s.io/v1`. */
  readonly apiVersion: string
  /** As discovery lists it. Its name is that of a resource or of a subresource: `serviceaccounts/token`. */
  readonly resource: APIResource
  /** How bodies are decoded. */
  readonly body: BodySpec
  /** The object that was sent with its defaults. */
  applyDefaults?(object: ApiObject): ApiObject
  /** The answer to the object that was sent. Errors are thrown, as StatusErrors. */
  answer(request: VirtualRequest): Promise<ApiObject>
}

export interface VirtualRequest {
  readonly request: RequestWithOptions<WriteOptions>
  /** After mutating admission, in the namespace of the request. */
  readonly object: ApiObject
  /** Empty at the cluster scope. */
  readonly namespace: string
  /** Of the object that the path names; empty if it names none. */
  readonly name: string
  readonly now: number
  /** Runs validating admission, on the object as the resource has completed it, after the checks of the resource. */
  validate(completed?: ApiObject): Awaitable<void>
}

/** The place of a request to a virtual resource. */
export type VirtualTarget = Pick<VirtualRequest, 'namespace' | 'name'>

export interface VirtualResult {
  readonly type: 'virtual'
  readonly status: number
  readonly object: ApiObject
}
