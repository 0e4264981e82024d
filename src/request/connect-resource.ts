// Subresources that lead to what runs on a node: the log of a pod, exec, attach, portforward, and the proxies. No object is
// sent to them; their options are the parameters of the query.
import type { Awaitable } from '../base/awaitable.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { APIResource } from '../types/type-table.js'
import type { Request } from './request.js'
import type { VirtualResource, VirtualTarget } from './virtual-resource.js'

export interface ConnectResource {
  /** The group version that serves it. */
  readonly apiVersion: string
  /** As discovery lists it. */
  readonly resource: APIResource
  /** The HTTP methods of its path. */
  readonly methods: readonly string[]
  /** Whether the paths below it are served, too. The rest of the path is then the option `path`. */
  readonly hasSubpaths: boolean
  /** The kind of its options: PodExecOptions. */
  readonly optionsKind: string
  /** The media types of what it answers; undefined if any Accept header will do. */
  readonly produces?: 'text' | undefined
  /** Whether admission is asked, with the operation CONNECT. */
  readonly isAdmitted: boolean
  /** Errors are thrown, as StatusErrors. */
  connect(request: ConnectRequest): Awaitable<ConnectResult>
}

export interface ConnectTarget extends VirtualTarget {
  /** The query as it was sent. */
  readonly rawQuery: string
  /** The client asks to change the protocol of its connection. */
  readonly isUpgrade: boolean
}

export interface ConnectRequest extends ConnectTarget {
  readonly request: Request
  readonly options: ApiObject
}

/** An answer without a body. */
export type ConnectResult = { readonly status: 204 } | { readonly status: 301; readonly location: string }

/** A resource that is not in the registry. */
export type UnstoredResource = VirtualResource | ConnectResource

export const isConnect = (resource: UnstoredResource): resource is ConnectResource => 'connect' in resource
