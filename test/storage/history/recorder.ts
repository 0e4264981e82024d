// Records operations and outcomes, and lets tests wait for a point in the history ("once 200 operations are done")
// instead of for time to pass.
import { inspect } from 'node:util'
import { StorageError } from '../../../src/storage/storage-error.js'
import type { Store } from '../../../src/storage/store.js'
import { type History, isWrite, type Operation, type Outcome, type Requested, seen } from './history.js'

export interface Recorder {
  readonly history: History
  /** The number of operations with any outcome. */
  readonly answered: number
  /** The number of failed and unknown outcomes. */
  readonly errors: number
  /** The number of acknowledged writes. */
  readonly acknowledged: number
  /** Performs an operation and records its outcome; never throws. */
  carryOut(client: string, store: Store, requested: Requested): Promise<Operation>
  /** The next tick of the clock. */
  tick(): number
  /** Resolves when the condition holds; checked at each tick. Rejects after a time limit. */
  until(what: string, condition: () => boolean, withinMs?: number): Promise<void>
}

export function createRecorder(): Recorder {
  const history: History = { operations: [], watchers: [], incidents: [] }
  const waiting = new Set<() => void>()
  let now = 0
  let answered = 0
  let errors = 0
  let acknowledged = 0
  let looking = false

  function tick(): number {
    now++
    // Later, after the reason for the tick has been recorded.
    if (waiting.size > 0 && !looking) {
      looking = true
      setImmediate(lookAgain)
    }
    return now
  }

  function lookAgain(): void {
    looking = false
    for (const look of waiting) look()
  }

  return {
    history,
    get answered() {
      return answered
    },
    get errors() {
      return errors
    },
    get acknowledged() {
      return acknowledged
    },
    tick,

    async carryOut(client, store, requested) {
      const operation: Operation = {
        id: history.operations.length + 1,
        client,
        requested,
        calledAt: tick(),
        answeredAt: undefined,
        outcome: { is: 'unknown', code: 'pending', message: 'not answered yet' },
      }
      history.operations.push(operation)
      operation.outcome = await perform(store, requested).catch(outcomeOfError)
      operation.answeredAt = tick()
      answered++
      if (operation.outcome.is === 'failed' || operation.outcome.is === 'unknown') errors++
      if (operation.outcome.is === 'done') acknowledged++
      return operation
    },

    until(what, condition, withinMs = 40_000) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (!condition()) return
          stop()
          resolve()
        }
        const tooLate = setTimeout(() => {
          stop()
          reject(new Error(`waited ${withinMs} ms in vain: ${what} (${answered} answered, ${errors} of them errors)`))
        }, withinMs).unref()
        const stop = (): void => {
          clearTimeout(tooLate)
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      })
    },
  }
}

async function perform(store: Store, requested: Requested): Promise<Outcome> {
  if (isWrite(requested)) {
    const result =
      requested.what === 'create'
        ? await store.create(requested.key, Buffer.from(requested.value))
        : requested.what === 'update'
          ? await store.update(requested.key, Buffer.from(requested.value), requested.expected)
          : await store.delete(requested.key, requested.expected)
    return result.done ? { is: 'done', revision: result.revision } : { is: 'refused', current: seen(result.current) }
  }
  switch (requested.what) {
    case 'revision':
      return { is: 'revision', revision: await store.revision() }
    case 'get':
      return { is: 'entry', entry: seen(await store.get(requested.key, requested.at)) }
    default: {
      const { prefix, at, limit, startAfter } = requested
      const { revision, entries, remaining } = await store.range(prefix, { at, limit, startAfter })
      return { is: 'page', revision, entries: entries.map(entry => seen(entry)!), remaining }
    }
  }
}

/** After `outcome-unknown`, or an error that is not a StorageError, a write may have been applied. */
function outcomeOfError(error: unknown): Outcome {
  if (!(error instanceof StorageError)) {
    return { is: 'unknown', code: 'not a StorageError', message: inspect(error) }
  }
  const { code, message } = error
  return { is: code === 'outcome-unknown' ? 'unknown' : 'failed', code, message }
}
