// A client that watches: at times it closes its watch and resumes from its position, pauses, requests progress, or
// writes from inside its sink, and records all calls.
import type { StorageError } from '../../../src/storage/storage-error.js'
import type { Revision, Store, Watch, WatchSink } from '../../../src/storage/store.js'
import { seenEvent, type WatcherLog, type WatchStep } from './history.js'
import type { Random } from './random.js'
import type { Recorder } from './recorder.js'

export interface WatchClientOptions {
  readonly name: string
  /** A prefix or a key. */
  readonly target: string
  readonly after: Revision
  readonly store: () => Store
  readonly recorder: Recorder
  readonly random: Random
}

export interface WatchClient {
  readonly log: WatcherLog
  /** All events up to here were delivered. */
  readonly position: Revision
  /** The watch ended with an error after which it cannot be resumed. */
  readonly lost: boolean
  /** Resumes at its position, after its store was closed and opened again. */
  reconnect(): void
  /** From now on only receives events. */
  calmDown(): void
  sendProgressRequest(): void
  close(): void
}

type Unfixed<T> = T extends unknown ? Omit<T, 'time' | 'session'> : never

export function startWatchClient({ name, target, after, store, recorder, random }: WatchClientOptions): WatchClient {
  const log: WatcherLog = { name, target, steps: [] }
  recorder.history.watchers.push(log)
  let position = after
  let session = 0
  let watch: Watch | undefined
  let paused = false
  let calm = false
  let lost = false
  let over = false
  let written = 0

  function note(step: Unfixed<WatchStep>, of = session): void {
    log.steps.push({ ...step, time: recorder.tick(), session: of })
  }

  function open(): void {
    if (over || watch) return
    session++
    paused = false
    try {
      watch = store().watch(target, position, createSink(session))
    } catch {
      return // the store is closed: reconnect() is called when it is open again
    }
    note({ is: 'opened', after: position })
    if (calm) watch.requestProgress()
  }

  function close(): void {
    if (!watch) return
    note({ is: 'closed' })
    watch.close()
    watch = undefined
  }

  function resume(): void {
    if (!watch || !paused) return
    paused = false
    note({ is: 'resumed' })
    watch.resume()
  }

  /** Runs the action a few ticks later. */
  function later(action: () => void): void {
    const from = recorder.answered
    const wait = random.number(60)
    void recorder.until('a little later', () => calm || recorder.answered >= from + wait, 60_000).then(action, action)
  }

  function createSink(mine: number): WatchSink {
    return {
      event(event) {
        note({ is: 'event', event: seenEvent(event) }, mine)
        if (mine !== session) return true // too late: reported by the checker
        position = Math.max(position, event.revision)
        if (calm) return true
        if (random.chance(0.02)) {
          close()
          if (random.chance(0.5)) setImmediate(open)
          else later(open)
        } else if (random.chance(0.1)) {
          paused = true
          note({ is: 'paused' })
          later(resume)
          return false
        } else if (random.chance(0.05)) watch?.requestProgress()
        else if (random.chance(0.03) && event.value) {
          // A sink may use its store.
          const value = `${name}.${++written}`
          void recorder.carryOut(name, store(), { what: 'update', key: event.key, value, expected: event.revision })
        }
        return true
      },
      progress(revision) {
        note({ is: 'progress', revision }, mine)
        if (mine === session) position = Math.max(position, revision)
      },
      end(error) {
        note({ is: 'ended', code: error.code, message: error.message }, mine)
        if (mine === session) reconnectAfter(error)
      },
    }
  }

  function reconnectAfter({ code }: StorageError): void {
    watch = undefined
    if (code === 'slow-watcher') setImmediate(open)
    else if (code === 'compacted') void startAnew()
    else if (code !== 'closed') lost = true
  }

  /** Starts again after its position was compacted: reads the current state and watches from there. */
  async function startAnew(): Promise<void> {
    const { outcome } = await recorder.carryOut(name, store(), { what: 'revision' })
    if (outcome.is === 'revision') {
      position = outcome.revision
      open()
    } else if (!over) setTimeout(() => void startAnew(), 10)
  }

  open()
  return {
    log,
    get position() {
      return position
    },
    get lost() {
      return lost
    },
    reconnect: open,
    calmDown() {
      calm = true
      open()
      resume()
    },
    sendProgressRequest() {
      watch?.requestProgress()
    },
    close() {
      over = true
      close()
    },
  }
}
