// Errors of the store as a Status.
import { type Awaitable, orElse } from '../base/awaitable.js'
import {
  expired,
  internalError,
  requestEntityTooLarge,
  type StatusError,
  serviceUnavailable,
  timeout,
  tooLargeResourceVersion,
} from '../meta/errors/status.js'
import { StorageError } from '../storage/storage-error.js'

/** Runs an action on the store. `requested` is the resourceVersion of the request, for messages. */
export function asStatus<T>(requested: number | bigint, action: () => Promise<T>): Promise<T>
export function asStatus<T>(requested: number | bigint, action: () => Awaitable<T>): Awaitable<T>
export function asStatus<T>(requested: number | bigint, action: () => Awaitable<T>): Awaitable<T> {
  const fail = (error: unknown): never => {
    throw error instanceof StorageError ? statusOf(error, requested) : error
  }
  return orElse(action, fail)
}

export function statusOf(error: StorageError, requested: number | bigint): StatusError {
  switch (error.code) {
    case 'compacted':
      return expired('The resourceVersion for the provided list is too old.')
    case 'future-revision':
    case 'invalid-revision':
      return tooLargeResourceVersion(requested, error.revision ?? 0)
    case 'value-too-large':
      return requestEntityTooLarge(error.message)
    case 'unavailable':
    case 'closed':
      return serviceUnavailable(error.message)
    case 'outcome-unknown':
      return timeout(error.message)
    default:
      return internalError(error.message)
  }
}
