// The phases of a start. Each phase leaves behind how it is undone. A start that fails or is aborted undoes the phases
// that were done, in reverse order; so does a stop.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCleanupStack } from '../../base/cleanup-stack.js'
import type { Logger } from '../../base/logger.js'

export interface Phases {
  /** Runs one phase. Rejects when it fails, or as soon as the start is aborted. */
  run<T>(name: string, phase: () => T | Promise<T>, undo?: (result: T) => void | Promise<void>): Promise<T>
  /** Undoes all phases, the last one first. */
  undo(): Promise<void>
}

export function createPhases(log: Logger, signal: AbortSignal | undefined): Phases {
  const stack = createCleanupStack()
  return {
    async run(name, phase, undo) {
      signal?.throwIfAborted()
      const began = performance.now()
      const running = Promise.resolve().then(phase)
      try {
        const result = await orAborted(running, signal)
        if (undo) stack.push(() => undo(result))
        log.debug('start', { phase: name, milliseconds: Math.round(performance.now() - began) })
        return result
      } catch (error) {
        if (signal?.aborted) await Promise.race([closeLate(running, undo), sleep(ABANDONED_MS, undefined, UNREF)])
        throw error
      }
    },
    undo: () => stack.unwind(),
  }
}

/** How long an aborted start waits for the phase that was running, such as one that connects to etcd. */
const ABANDONED_MS = 2000
const UNREF = { ref: false }

/** Undoes a phase that ends after the start was aborted. */
async function closeLate<T>(
  running: Promise<T>,
  undo: ((result: T) => void | Promise<void>) | undefined,
): Promise<void> {
  const [outcome] = await Promise.allSettled([running])
  if (outcome.status === 'fulfilled') await undo?.(outcome.value)
}

function orAborted<T>(running: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return running
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
