// Errors of the store as a Status.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Awaitable, orElse } from '../base/awaitable.js'
import {
  badRequest,
  expired,
  internalError,
  requestEntityTooLarge,
  StatusError,
  serviceUnavailable,
  timeout,
  tooLargeResourceVersion,
  unclassified,
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
    case 'data-replaced':
      return expired('The resourceVersion for the provided list is too old.')
    case 'future-revision':
    case 'invalid-revision':
      return tooLargeResourceVersion(requested, error.revision ?? 0)
    case 'value-too-large':
      return tooLarge(error)
    // A name that no key can have. Most are refused before; those of events may be nearly anything.
    case 'invalid-key':
    case 'invalid-prefix':
    case 'key-too-large':
      return badRequest(error.message)
    case 'unavailable':
    case 'closed':
    case 'no-space':
      return causedBy(error, serviceUnavailable(error.message, RETRY_SECONDS))
    case 'guard-changed':
      return guardFailed(error)
    case 'outcome-unknown':
      return timeout(error.message, RETRY_SECONDS)
    default:
      return internalError(error.message)
  }
}

/** When a client may try again. The store may be back at any moment. */
const RETRY_SECONDS = 1

/** What etcd refuses is answered in its words. */
function tooLarge(error: StorageError): StatusError {
  const { message } = error
  return causedBy(error, error.cause === undefined ? requestEntityTooLarge(message) : unclassified(message))
}

/** What the object was checked by has changed, such as its definition: the request may succeed when it is repeated. */
const guardFailed = (error: StorageError): StatusError =>
  causedBy(
    error,
    serviceUnavailable(
      'the definition of the resource or its namespace has changed meanwhile; please try again',
      RETRY_SECONDS,
    ),
  )

const causedBy = (cause: StorageError, { status }: StatusError): StatusError => new StatusError(status, { cause })

/** The Status of an error that comes from the store, in whichever part of a request. */
export function statusOfStorageError(error: unknown): StatusError | undefined {
  return error instanceof StorageError ? statusOf(error, 0) : undefined
}

/** Whether nothing was stored because what the object was checked by has changed. */
export const isGuardFailure = (error: unknown): boolean => hasCause(error, 'guard-changed')

/** Whether it is certain that nothing was stored, and what is stored can still be changed. */
export const isNotStored = (error: unknown): boolean =>
  (error instanceof StatusError && (error.status.code ?? 500) < 500) ||
  isGuardFailure(error) ||
  hasCause(error, 'no-space')

/** Whether nothing was stored because the object is larger than the store allows. */
export const isTooLarge = (error: unknown): boolean => hasCause(error, 'value-too-large')

const hasCause = (error: unknown, code: StorageError['code']): boolean =>
  error instanceof StatusError && error.cause instanceof StorageError && error.cause.code === code
