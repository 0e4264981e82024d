// The flow schema and the priority level of a request, whose UIDs every response carries in two headers.

import type { RequestInfo } from '../../request/request-info.js'
import type { UserInfo } from '../../request/user-info.js'
import type { IncomingRequest } from '../wire/incoming-request.js'

export interface FlowUids {
  readonly flowSchema: string
  readonly priorityLevel: string
}

/** Undefined if no flow schema matches. */
export type Classify = (user: UserInfo, info: RequestInfo) => FlowUids | undefined

export function classifyRequest(request: IncomingRequest, classify: Classify | undefined): void {
  request.flow = classify?.(request.user, request.info)
}
