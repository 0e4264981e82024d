// The watchers of one log of events: who listens where, who is up to date, who is catching up.
//
// An event is sent to addresses: its key and every folder above it. A watcher listens at one address, so an event
// costs a few map look-ups and one call for each watcher that wants it, however many others there are.
// A watcher holds no queue. It is a position in the log: live while it takes what comes, and back to reading the log
// when it paused and missed something. How far back it can go is the log's affair.
import { foldersOf } from './keys.js'
import { futureRevision, StorageError } from './storage-error.js'
import type { Revision, StoreEvent, Watch, WatchSink } from './store.js'

/** Where watchers read what they missed. */
export interface EventLog<E extends StoreEvent> {
  /** Every event up to here has been published. */
  readonly revision: Revision
  /** The next events after a revision, oldest first, `limit` or so many; throws when some of them are gone. */
  read(after: Revision, limit: number): readonly E[]
}

export interface Watchers<E extends StoreEvent> {
  /** Listens at an address for events after a revision that the log has reached. */
  watch(address: string, after: Revision, sink: WatchSink<E>): Watch
  /** Hands on events, oldest first, after the log took them in. */
  publish(events: readonly E[]): void
  /** Ends those watchers that missed events up to `revision`, which the log is about to forget. */
  dropBehind(revision: Revision, error: (after: Revision) => StorageError): void
  /** Ends all watchers. */
  endAll(error: StorageError): void
  readonly size: number
}

/** How many events a watcher that catches up reads before others get their turn. */
const CATCH_UP_EVENTS = 500

export function createWatchers<E extends StoreEvent>(
  log: EventLog<E>,
  addressesOf: (event: E) => readonly string[] = event => addressesOfKey(event.key),
): Watchers<E> {
  const all = new Set<Watcher<E>>()
  const live = new Map<string, Set<Watcher<E>>>()

  function goLive(watcher: Watcher<E>): void {
    const there = live.get(watcher.address)
    if (there) there.add(watcher)
    else live.set(watcher.address, new Set([watcher]))
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
    if (watcher.live && event.revision <= watcher.liveSince) return // it joined while this event was being handed out
    // Events of one revision (keys of one lease that expired in etcd) go together: no position lies between them.
    if (watcher.paused && event.revision !== watcher.position) {
      if (!watcher.behind) watcher.position = event.revision - 1 // until now it missed nothing
      watcher.behind = true
      return
    }
    watcher.position = event.revision
    try {
      if (watcher.sink.event(event) === false) watcher.paused = true
    } catch (cause) {
      sinkFailed(watcher, cause)
    }
  }

  /** Delivers the next stretch of the log, then lets others run; goes live at the end of it. */
  function catchUp(watcher: Watcher<E>): void {
    watcher.scheduled = false
    if (watcher.ended || watcher.paused) return
    let events: readonly E[]
    try {
      events = log.read(watcher.position, CATCH_UP_EVENTS)
    } catch (error) {
      end(watcher, error instanceof StorageError ? error : new StorageError('corrupt', String(error), undefined, error))
      return
    }
    for (const event of events) {
      if (watcher.ended || (watcher.paused && event.revision !== watcher.position)) return
      if (addressesOf(event).includes(watcher.address)) deliver(watcher, event)
      else watcher.position = event.revision
    }
    if (watcher.ended || watcher.paused) return
    if (events.length >= CATCH_UP_EVENTS) schedule(watcher)
    else goLive(watcher)
  }

  function schedule(watcher: Watcher<E>): void {
    if (watcher.scheduled) return
    watcher.scheduled = true
    setImmediate(catchUp, watcher)
  }

  /** Answers a request for progress, unless the watcher has yet to catch up; then it is answered afterwards. */
  function tellProgress(watcher: Watcher<E>): void {
    if (!watcher.progressWanted || !watcher.live || watcher.paused) return
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
        behind: false,
        progressWanted: false,
        scheduled: false,
        ended: false,
      }
      all.add(watcher)
      if (after > log.revision) {
        setImmediate(() => end(watcher, futureRevision(after, log.revision)))
      } else if (after === log.revision) goLive(watcher)
      else schedule(watcher)
      return {
        resume() {
          if (!watcher.paused || watcher.ended) return
          watcher.paused = false
          if (watcher.live && !watcher.behind) setImmediate(tellProgress, watcher)
          else {
            watcher.behind = false
            leaveLive(watcher)
            schedule(watcher)
          }
        },
        requestProgress() {
          watcher.progressWanted = true
          setImmediate(tellProgress, watcher)
        },
        close: () => remove(watcher),
      }
    },

    publish(events) {
      if (live.size === 0) return
      for (const event of events) {
        for (const address of addressesOf(event)) {
          const there = live.get(address)
          if (there) for (const watcher of there) deliver(watcher, event)
        }
      }
    },

    dropBehind(revision, error) {
      for (const watcher of all) {
        // A live watcher that missed nothing has nothing to lose, wherever it last stopped.
        if (watcher.position < revision && (!watcher.live || watcher.behind)) end(watcher, error(watcher.position))
      }
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
  /** What was published up to here it has read from the log. */
  liveSince: Revision
  /** Its sink takes nothing for now. */
  paused: boolean
  /** It was sent something while it was paused. */
  behind: boolean
  progressWanted: boolean
  scheduled: boolean
  ended: boolean
}

/** Where a write to a key can be heard: at the key itself and at every folder above it. */
export function addressesOfKey(key: string): string[] {
  const addresses = foldersOf(key)
  addresses.push(key)
  return addresses
}
