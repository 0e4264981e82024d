// Concurrent clients and watchers on a store, until a test ends them.
import { onTestFailed, onTestFinished } from 'vitest'
import type { Revision, Store } from '../../../src/storage/store.js'
import { expectSound } from './check.js'
import { runClient } from './client.js'
import { covers, type History } from './history.js'
import { createRandom, SEED } from './random.js'
import { createRecorder, type Recorder } from './recorder.js'
import { startWatchClient, type WatchClient } from './watch-client.js'
import { operationInWords, stepsInWords } from './wording.js'

export interface WorkloadOptions {
  /** The stores of the clients and watchers, read at each operation, so that they may change. */
  readonly stores: readonly (() => Store)[]
  readonly clients?: number
  readonly watchers?: number
  readonly seed?: number
  /** The start of watches: the revision of the store before the workload. */
  readonly after?: Revision
  /** Whether progress requests are answered soon; otherwise watchers only reach their last event. */
  readonly promptProgress?: boolean
}

export interface Workload {
  readonly recorder: Recorder
  /** Waits for this many more outcomes. */
  answered(more: number): Promise<void>
  /** Waits for this many more acknowledged writes: the store works. */
  acknowledged(more: number): Promise<void>
  /** Waits for this many more errors: the store does not work. */
  failed(more: number): Promise<void>
  /** Compacts to a revision somewhat before the newest acknowledged one. */
  compact(): Promise<void>
  /** Must be called before a store is closed, and after it was opened again. */
  closing(): void
  reopened(): void
  /** Lets clients finish and waits until all watchers have all events; returns the complete history. */
  finish(): Promise<History>
}

/** The prefix of all keys of the workload. */
export const PREFIX = '/h/'
const KEYS = ['/h/a/1', '/h/a/2', '/h/a/10', '/h/b/1', '/h/b/2']
const PREFIXES = [PREFIX, '/h/a/', '/h/b/']
const TARGETS = [PREFIX, '/h/a/', '/h/b/2', PREFIX, '/h/a/1', '/h/b/']

export function startWorkload(options: WorkloadOptions): Workload {
  const { stores, clients = 6, watchers = 4, seed = SEED, after = 0, promptProgress = true } = options
  onTestFailed(() => console.error(`to run this again: HISTORY_SEED=${seed}`))
  const recorder = createRecorder()
  const random = createRandom(seed)
  const { history } = recorder
  let stopped = false
  const storeFor = (i: number): (() => Store) => stores[i % stores.length]!

  const watching = Array.from({ length: watchers }, (_, i) =>
    startWatchClient({
      name: `w${i + 1}`,
      target: TARGETS[i % TARGETS.length]!,
      after,
      store: storeFor(i),
      recorder,
      random: random.fork(),
    }),
  )
  const running = Array.from({ length: clients }, (_, i) =>
    runClient({
      name: `c${i + 1}`,
      store: storeFor(i),
      keys: KEYS,
      prefixes: PREFIXES,
      recorder,
      random: random.fork(),
      stopped: () => stopped,
    }),
  )

  // Also after a failure: clients would never stop.
  onTestFinished(() => {
    stopped = true
    for (const watcher of watching) watcher.close()
  })

  const more = (what: string, count: () => number) => (by: number) => {
    const from = count()
    return recorder.until(`${by} more operations ${what}`, () => count() >= from + by)
  }

  /** The newest revision of an acknowledged write. */
  function newest(): Revision {
    return history.operations.reduce(
      (max, { outcome }) => (outcome.is === 'done' ? Math.max(max, outcome.revision) : max),
      0,
    )
  }

  /** At the end, writes without concurrent clients must be acknowledged. */
  async function writeOnce(key: string): Promise<Revision> {
    for (let attempt = 1; ; attempt++) {
      const store = storeFor(attempt)()
      const { outcome: found } = await recorder.carryOut('end', store, { what: 'get', key, at: 'latest' })
      const expected = found.is === 'entry' ? (found.entry?.revision ?? 0) : 0
      const value = `end.${key}.${attempt}`
      const requested = expected === 0 ? { what: 'create' as const } : { what: 'update' as const, expected }
      const operation = await recorder.carryOut('end', store, { ...requested, key, value })
      if (operation.outcome.is === 'done') return operation.outcome.revision
      // A request that was given up earlier may still arrive.
      if (operation.outcome.is !== 'refused' || attempt === 10) {
        throw new Error(`the store does not work in the end: ${operationInWords(operation)}`)
      }
    }
  }

  return {
    recorder,
    answered: more('answered', () => recorder.answered),
    acknowledged: more('acknowledged', () => recorder.acknowledged),
    failed: more('failed', () => recorder.errors),

    async compact() {
      const to = Math.max(0, newest() - random.number(50))
      history.incidents.push({ is: 'compaction', time: recorder.tick(), to })
      await stores[0]!().compact(to)
    },

    closing() {
      history.incidents.push({ is: 'close', time: recorder.tick() })
    },

    reopened() {
      for (const watcher of watching) watcher.reconnect()
    },

    async finish() {
      stopped = true
      await Promise.all(running)
      for (const watcher of watching) watcher.calmDown()
      await recorder.until('everything is answered', () => recorder.answered === history.operations.length)
      const last = new Map<string, Revision>()
      for (const key of KEYS) last.set(key, await writeOnce(key))
      const revision = Math.max(...last.values())
      for (const watcher of watching) watcher.sendProgressRequest()
      const due = ({ log: { target } }: WatchClient): Revision =>
        promptProgress ? revision : Math.max(...KEYS.map(key => (covers(target, key) ? last.get(key)! : 0)))
      const complete = (watcher: WatchClient): boolean => watcher.lost || watcher.position >= due(watcher)
      await recorder
        .until('all watchers have everything', () => watching.every(complete))
        .catch((error: unknown) => {
          expectSound(history) // its message has more details
          const behind = watching.filter(watcher => !complete(watcher))
          const where = behind.map(watcher => {
            const { steps } = watcher.log
            return `\n  ${watcher.log.name} is at ${watcher.position}, not at ${due(watcher)}:${stepsInWords(steps)}`
          })
          throw new Error(`watchers are stuck:${where.join('')}`, { cause: error })
        })
      for (const watcher of watching) watcher.close()
      return history
    },
  }
}
