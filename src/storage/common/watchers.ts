// The watchers of one log of events: who listens where, who is up to date, who is catching up.
//
// An event is sent to addresses: its key and every folder above it. A watcher listens at one address, so an event
// costs a few map look-ups and one call for each watcher that wants it, however many others there are.
// A watcher holds no queue. It is a position in the log: live while it takes what comes, and back to reading the log
// when it paused and missed something. How far back it can go is the log's affair.
import { foldersOf } from '../keys.js'
import { futureRevision, StorageError } from '../storage-error.js'
import type { Revision, StoreEvent, Watch, WatchSink } from '../store.js'

/** Where watchers read what they missed. */
export interface EventLog<E extends StoreEvent> {
  /** Every event up to here has been published. */
  readonly revision: Revision
  /** The newest revision that is known to have happened, where the log may lag behind it. */
  readonly happened?: Revision
  /** The next events after a revision, oldest first, `limit` at most or so; throws when some of them are gone. */
  read(after: Revision, limit: number): Stretch<E>
}

/** A piece of a log. */
export interface Stretch<E extends StoreEvent> {
  readonly events: readonly E[]
  /** Nothing follows it at the moment. */
  readonly isLast: boolean
}

export interface Watchers<E extends StoreEvent> {
  /** Listens at an address for events after a revision that is known to have happened. */
  watch(address: string, after: Revision, sink: WatchSink<E>): Watch
  /** Hands on events, oldest first, after the log took them in. */
  publish(events: readonly E[]): void
  /** Ends those watchers that missed events up to `revision`, which the log is about to forget. */
  dropBehind(revision: Revision, error: (after: Revision) => StorageError): void
  /** Ends all watchers. */
  endAll(error: StorageError): void
  readonly size: number
}

/** Where events can be heard. */
export interface Addressing<E extends StoreEvent> {
  addressesOf(event: E): readonly string[]
  /** Whether an address is among those of an event. */
  isHeardAt(address: string, event: E): boolean
}

/** How many events a watcher that catches up reads before others get their turn. */
const CATCH_UP_EVENTS = 500

/** How many events all that catch up may read before the process looks after something else. */
const TURN_EVENTS = 5_000

export function createWatchers<E extends StoreEvent>(
  log: EventLog<E>,
  { addressesOf, isHeardAt }: Addressing<E> = byKey,
): Watchers<E> {
  const all = new Set<Watcher<E>>()
  const live = new Map<string, Set<Watcher<E>>>()
  /** Those who have yet to read something in the log: not live, or sent something while they were paused. */
  const lagging = new Set<Watcher<E>>()
  /** Those among them whose turn it is to read, one after the other. */
  const due = new Set<Watcher<E>>()
  let turnAhead = false
  /** The events that are being handed out. */
  let publishing: E[] | undefined

  function goLive(watcher: Watcher<E>): void {
    const there = live.get(watcher.address)
    if (there) there.add(watcher)
    else live.set(watcher.address, new Set([watcher]))
    lagging.delete(watcher)
    watcher.live = true
    watcher.liveSince = watcher.position
    tellProgress(watcher)
  }

  function leaveLive(watcher: Watcher<E>): void {
    const there = live.get(watcher.address)
    if (there?.delete(watcher) && there.size === 0) live.delete(watcher.address)
    watcher.live = false
  }

  function remove(watcher: Watcher<E>): void {
    all.delete(watcher)
    lagging.delete(watcher)
    due.delete(watcher)
    leaveLive(watcher)
    watcher.ended = true
  }

  function end(watcher: Watcher<E>, error: StorageError): void {
    if (watcher.ended) return
    remove(watcher)
    try {
      watcher.sink.end(error)
    } catch {
      // Its watch is over either way, and all other watchers must not notice.
    }
  }

  /** A sink that throws loses its watch; whoever wrote the event and all other watchers must not notice. */
  function sinkFailed(watcher: Watcher<E>, cause: unknown): void {
    end(
      watcher,
      new StorageError('sink-failed', `a watcher failed to take what it was sent: ${String(cause)}`, undefined, cause),
    )
  }

  function deliver(watcher: Watcher<E>, event: E): void {
    if (watcher.live && event.revision <= watcher.liveSince) return // it joined behind this event
    // Events of one revision (keys of one lease that expired in etcd) go together: no position lies between them.
    if (watcher.paused && event.revision !== watcher.position) {
      if (!lagging.has(watcher)) watcher.position = event.revision - 1 // until now it missed nothing
      lagging.add(watcher)
      return
    }
    watcher.position = event.revision
    try {
      if (watcher.sink.event(event) === false) watcher.paused = true
    } catch (cause) {
      sinkFailed(watcher, cause)
    }
  }

  function schedule(watcher: Watcher<E>): void {
    due.add(watcher)
    if (turnAhead) return
    turnAhead = true
    setImmediate(takeTurns)
  }

  /** However many have to catch up, new events, reads and writes do not wait for all of them. */
  function takeTurns(): void {
    let left = TURN_EVENTS
    for (const watcher of due) {
      due.delete(watcher)
      left -= catchUp(watcher)
      if (left <= 0) break
    }
    turnAhead = due.size > 0
    if (turnAhead) setImmediate(takeTurns)
  }

  /** Delivers the next stretch of the log, goes live at the end of it, and answers how many events it looked at. */
  function catchUp(watcher: Watcher<E>): number {
    if (watcher.paused) return 0
    const upTo = log.revision
    let stretch: Stretch<E>
    try {
      stretch = log.read(watcher.position, CATCH_UP_EVENTS)
    } catch (error) {
      end(watcher, error instanceof StorageError ? error : new StorageError('corrupt', String(error), undefined, error))
      return 1
    }
    const { events, isLast } = stretch
    for (const event of events) {
      if (watcher.ended || (watcher.paused && event.revision !== watcher.position)) break
      if (isHeardAt(watcher.address, event)) deliver(watcher, event)
      else watcher.position = event.revision
    }
    if (!watcher.ended && !watcher.paused) {
      // The sink may have written meanwhile: then there is more to read.
      if (!isLast || log.revision !== upTo) schedule(watcher)
      else goLive(watcher)
    }
    return events.length + 1
  }

  /** Answers a request for progress, unless the watcher has yet to catch up; then it is answered afterwards. */
  function tellProgress(watcher: Watcher<E>): void {
    if (!watcher.progressWanted || !watcher.live || watcher.paused || watcher.position > log.revision) return
    watcher.progressWanted = false
    watcher.position = log.revision
    try {
      watcher.sink.progress?.(log.revision)
    } catch (cause) {
      sinkFailed(watcher, cause)
    }
  }

  return {
    watch(address, after, sink) {
      const watcher: Watcher<E> = {
        address,
        sink,
        position: after,
        live: false,
        liveSince: after,
        paused: false,
        progressWanted: false,
        ended: false,
      }
      all.add(watcher)
      if (after > Math.max(log.revision, log.happened ?? 0)) {
        setImmediate(() => end(watcher, futureRevision(after, log.revision)))
      } else if (after >= log.revision) goLive(watcher)
      else {
        lagging.add(watcher)
        schedule(watcher)
      }
      return {
        resume() {
          if (!watcher.paused || watcher.ended) return
          watcher.paused = false
          if (lagging.has(watcher)) {
            leaveLive(watcher)
            schedule(watcher)
          } else setImmediate(tellProgress, watcher)
        },
        requestProgress() {
          watcher.progressWanted = true
          setImmediate(tellProgress, watcher)
        },
        close: () => remove(watcher),
      }
    },

    publish(events) {
      // A sink that writes comes back here: what it wrote waits until all have got what came before.
      if (publishing) {
        publishing.push(...events)
        return
      }
      if (live.size === 0) return
      publishing = [...events]
      for (const event of publishing) {
        for (const address of addressesOf(event)) {
          const there = live.get(address)
          if (there) for (const watcher of there) deliver(watcher, event)
        }
      }
      publishing = undefined
    },

    dropBehind(revision, error) {
      // Whoever missed nothing has nothing to lose, wherever they last stopped.
      for (const watcher of lagging) if (watcher.position < revision) end(watcher, error(watcher.position))
    },

    endAll(error) {
      for (const watcher of all) end(watcher, error)
    },

    get size() {
      return all.size
    },
  }
}

interface Watcher<E extends StoreEvent> {
  readonly address: string
  readonly sink: WatchSink<E>
  /** Everything up to here that the watcher wants was delivered. */
  position: Revision
  /** It listens to what is published; otherwise it reads the log. */
  live: boolean
  /** Where it was when it went live: an event up to here that is published later is not for it. */
  liveSince: Revision
  /** Its sink takes nothing for now. */
  paused: boolean
  progressWanted: boolean
  ended: boolean
}

const byKey: Addressing<StoreEvent> = {
  addressesOf: event => addressesOfKey(event.key),
  isHeardAt: (address, { key }) => key === address || isWithin(address, key),
}

/** Whether a key is in a folder. */
export const isWithin = (prefix: string, key: string): boolean => prefix.endsWith('/') && key.startsWith(prefix)

/** Where a write to a key can be heard: at the key itself and at every folder above it. */
export function addressesOfKey(key: string): string[] {
  const addresses = foldersOf(key)
  addresses.push(key)
  return addresses
}
