// Writers of one object wait for each other. A change is made from the stored object and stored if nothing has changed
// meanwhile: of a hundred writers at the same time one would succeed, and the others would have worked in vain, again and
// again. A writer that has lost once, or finds others at work, waits until it is its turn.

import { performance } from 'node:perf_hooks'
import type { Cancellation } from '../../base/cancellation.js'

export interface WriterQueues {
  /** Begins without a turn if few others are at work, and returns a function that ends it; otherwise undefined. */
  begin(key: string): (() => void) | undefined
  /** Resolves when it is this writer's turn, with a function that ends it. Rejects when the request is aborted. */
  enter(key: string, request: Cancellation): Promise<() => void>
}

/**
 * The next writer begins at the latest after this time, unless the process was busy for most of it. An admission webhook may
 * itself write the object of the request that it was called for, and must not wait until it is answered.
 */
const MAX_TURN_MS = 2_000
/** On a busy machine a change of a large object takes longer, and a second writer beside it would only make it lose. */
const MAX_BUSY_TURNS = 4
/** Two, so that an admission webhook can write the object of its request at once. */
const MAX_WITHOUT_TURN = 2

/** How long the process has waited for something since its start. */
const idleTime = (): number => performance.eventLoopUtilization().idle

export function createWriterQueues(maxTurnMs = MAX_TURN_MS, idleMs = idleTime): WriterQueues {
  /** The writers that wait, by object. A queue is there as long as a writer has its turn. */
  const queues = new Map<string, (() => void)[]>()
  /** How many writers are at work without a turn, by object. */
  const withoutTurn = new Map<string, number>()

  function next(key: string): void {
    const waiting = queues.get(key)
    const wake = waiting?.shift()
    if (wake) wake()
    else queues.delete(key)
  }

  /** Begins a turn, which ends once: when the writer is done or has taken too long. */
  function beginTurn(key: string): () => void {
    let isOver = false
    let timer: NodeJS.Timeout
    const end = (): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      next(key)
    }
    const limit = (times: number): void => {
      const idleBefore = idleMs()
      timer = setTimeout(() => {
        const wasBusy = idleMs() - idleBefore < maxTurnMs / 2
        if (wasBusy && times > 1) limit(times - 1)
        else end()
      }, maxTurnMs)
      timer.unref()
    }
    limit(MAX_BUSY_TURNS)
    return end
  }

  return {
    begin(key) {
      const others = withoutTurn.get(key) ?? 0
      if (others === MAX_WITHOUT_TURN || queues.has(key)) return undefined
      withoutTurn.set(key, others + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = withoutTurn.get(key)! - 1
        if (left > 0) withoutTurn.set(key, left)
        else withoutTurn.delete(key)
      }
    },
    async enter(key, request) {
      const waiting = queues.get(key)
      if (!waiting) {
        queues.set(key, [])
        return beginTurn(key)
      }
      await new Promise<void>((resolve, reject) => {
        const { signal } = request
        const leave = (): void => {
          waiting.splice(waiting.indexOf(wake), 1)
          reject(signal.reason as Error)
        }
        const wake = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        if (signal.aborted) return reject(signal.reason as Error)
        waiting.push(wake)
        signal.addEventListener('abort', leave, { once: true })
      })
      return beginTurn(key)
    },
  }
}
