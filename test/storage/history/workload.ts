// Clients and watchers on a store, all at once, until a test has seen enough of them.
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
  /** The stores that clients and watchers are shared out among; asked for at each operation, so that they may change. */
  readonly stores: readonly (() => Store)[]
  readonly clients?: number
  readonly watchers?: number
  readonly seed?: number
  /** Where watches begin: the revision of the store before anything happens. */
  readonly after?: Revision
  /** Whether requests for progress are answered soon; otherwise watchers come no further than to their last event. */
  readonly promptProgress?: boolean
}

export interface Workload {
  readonly recorder: Recorder
  /** Waits until so many more operations were answered. */
  answered(more: number): Promise<void>
  /** Waits until so many more writes were acknowledged: everything works. */
  acknowledged(more: number): Promise<void>
  /** Waits until so many more operations ended with an error: something does not work. */
  failed(more: number): Promise<void>
  /** Forgets history up to somewhat before the newest revision that was acknowledged. */
  compact(): Promise<void>
  /** To be called before a store is closed, and after there is another in its place. */
  closing(): void
  reopened(): void
  /** Lets clients finish and waits until all watchers have everything; what then can be checked is the whole history. */
  finish(): Promise<History>
}

/** Where all keys of the workload are. */
export const FOLDER = '/h/'
const KEYS = ['/h/a/1', '/h/a/2', '/h/a/10', '/h/b/1', '/h/b/2']
const FOLDERS = [FOLDER, '/h/a/', '/h/b/']
const TARGETS = [FOLDER, '/h/a/', '/h/b/2', FOLDER, '/h/a/1', '/h/b/']

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
      folders: FOLDERS,
      recorder,
      random: random.fork(),
      stopped: () => stopped,
    }),
  )

  // Also when the test failed half-way: clients would go on for ever.
  onTestFinished(() => {
    stopped = true
    for (const watcher of watching) watcher.close()
  })

  const more = (what: string, count: () => number) => (by: number) => {
    const from = count()
    return recorder.until(`${by} more operations ${what}`, () => count() >= from + by)
  }

  /** The newest revision that an acknowledged write took. */
  function newest(): Revision {
    return history.operations.reduce(
      (max, { outcome }) => (outcome.is === 'done' ? Math.max(max, outcome.revision) : max),
      0,
    )
  }

  /** In the end everything works: writes that nobody contests any more are acknowledged. */
  async function writeOnce(key: string): Promise<Revision> {
    for (let attempt = 1; ; attempt++) {
      const store = storeFor(attempt)()
      const { outcome: found } = await recorder.carryOut('end', store, { what: 'get', key, at: 'latest' })
      const expected = found.is === 'entry' ? (found.entry?.revision ?? 0) : 0
      const value = `end.${key}.${attempt}`
      const requested = expected === 0 ? { what: 'create' as const } : { what: 'update' as const, expected }
      const operation = await recorder.carryOut('end', store, { ...requested, key, value })
      if (operation.outcome.is === 'done') return operation.outcome.revision
      // What was given up long ago may still come in between.
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
      for (const watcher of watching) watcher.goOn()
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
        .until('all watchers have everything', () => watching.every(complete), 10_000)
        .catch((error: unknown) => {
          expectSound(history) // which says more than that something is missing
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
