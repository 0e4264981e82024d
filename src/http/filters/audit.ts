// The audit of a request: who records it, and how much of it, is decided outside of http.
import type { IncomingRequest } from '../wire/incoming-request.js'
import type { RequestAudit } from '../wire/request-audit.js'

export type AuditedRequest = Pick<
  IncomingRequest,
  | 'info'
  | 'user'
  | 'impersonator'
  | 'impersonationConstraint'
  | 'decision'
  | 'userAgent'
  | 'auditId'
  | 'exchange'
  | 'sourceIPs'
  | 'receivedAt'
  | 'annotations'
  | 'waits'
  | 'reply'
>

/** The request could not be recorded. It is answered with a text, as by kube-apiserver. */
export class AuditFailed extends Error {
  override readonly message = 'failed to store audit event'
}

/** Undefined if nothing is recorded of the request. */
export type Audit = (request: AuditedRequest, isAuthenticated: boolean) => RequestAudit | undefined
