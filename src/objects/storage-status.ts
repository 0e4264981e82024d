// Errors of the store as a Status.

import { setTimeout as sleep } from 'node:timers/promises'
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

/** How long a read waits for a resourceVersion that the store has not reached, and how often it looks. */
const REACH_MS = 3_000
const LOOK_MS = 50

/**
 * Runs an action on the store. `requested` is the resourceVersion of the request, or 0; if the store has not reached it
 * yet, the action is repeated for some time.
 */
export function asStatus<T>(requested: number | bigint, action: () => Promise<T>): Promise<T>
export function asStatus<T>(requested: number | bigint, action: () => Awaitable<T>): Awaitable<T>
export function asStatus<T>(requested: number | bigint, action: () => Awaitable<T>): Awaitable<T> {
  const fail = (error: unknown): Awaitable<T> => {
    if (!(error instanceof StorageError)) throw error
    if (error.code === 'future-revision' && requested !== 0 && requested !== 0n)
      return repeated(requested, action, error)
    throw statusOf(error, requested)
  }
  return orElse(action, fail)
}

async function repeated<T>(requested: number | bigint, action: () => Awaitable<T>, first: StorageError): Promise<T> {
  const deadline = performance.now() + REACH_MS
  let error = first
  while (error.code === 'future-revision' && performance.now() < deadline) {
    await sleep(LOOK_MS)
    try {
      return await action()
    } catch (again) {
      if (!(again instanceof StorageError)) throw again
      error = again
    }
  }
  throw statusOf(error, requested)
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
