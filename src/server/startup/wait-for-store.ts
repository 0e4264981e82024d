// A start while etcd does not answer: it is tried again until the time limit of the options, and the log says what is
// waited for. A start that fails is undone, so each attempt begins from nothing, as another process would.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../base/logger.js'
import { hasReason } from '../../meta/errors/status.js'
import { StorageError } from '../../storage/storage-error.js'

export interface StoreWait {
  /** How long after the first attempt another one may begin. */
  readonly limitMs: number
  readonly log: Logger
  readonly signal: AbortSignal | undefined
}

const PAUSE_MS = 500

export async function startWhenStoreAnswers<T>(
  start: () => Promise<T>,
  { limitMs, log, signal }: StoreWait,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (signal?.aborted || !isStoreSilent(error)) throw error
      const waitedMs = performance.now() - began
      if (waitedMs + PAUSE_MS > limitMs) throw inWords(error, waitedMs)
      log.warn('the store does not answer: the start is tried again', { reason: error.message })
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}

/** Errors of the store and, from what the server itself writes, errors of the API with the same cause. */
function isStoreSilent(error: unknown): error is Error {
  if (error instanceof StorageError) return error.code === 'unavailable' || error.code === 'outcome-unknown'
  return hasReason(error, 'ServiceUnavailable') || hasReason(error, 'Timeout')
}

function inWords(error: Error, waitedMs: number): StorageError {
  const waited = `${Math.round(waitedMs / 1000)} s`
  return new StorageError(
    'unavailable',
    `the server did not start within ${waited}: ${error.message}`,
    undefined,
    error,
  )
}
