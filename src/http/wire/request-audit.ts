// What is recorded of a request while it is served, for an audit log.
import type { Status } from '../../meta/errors/status.js'
import type { Value } from '../../meta/values/value.js'

/** A longer response is not recorded: it would be held whole, and decoded at once. */
export const MAX_RECORDED_BYTES = 4 * 2 ** 20

/** What is recorded of one request. */
export interface RequestAudit {
  /** The request has arrived. False if it is to be refused, since that could not be recorded. */
  received(): boolean
  /** The object that the client sent. */
  object(value: Value): void
  /** The body of a patch. */
  patch(bytes: Buffer, mediaType: string): void
  /** The options of a delete. */
  deleteOptions(bytes: Buffer, mediaType: string): void
  /** Whether `response` is to be called. */
  readonly wantsResponse: boolean
  /** Undefined: it is longer than `MAX_RECORDED_BYTES`. */
  response(bytes: Buffer | undefined, mediaType: string): void
  /** The Status of an error. */
  failed(status: Status): void
  /** The response of a watch has begun. */
  started(): void
  /** The response has been sent. */
  completed(isBug: boolean): void
}
