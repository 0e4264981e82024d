// The watchers of one event log, with their addresses and positions.
//
// An event is published at addresses: its key, and every prefix of that key which ends with a slash. A watcher listens
// at one address, so an event costs a few map look-ups and one call for each interested watcher.
// A watcher has no queue; it is a position in the log. It is live while its sink takes every event. After a pause in
// which it missed events it reads them from the log. How far back it can read depends on the log.
import { prefixesOf } from '../keys.js'
import { futureRevision, StorageError } from '../storage-error.js'
import type { Revision, StoreEvent, Watch, WatchSink } from '../store.js'

/** The log from which watchers read events that they missed. */
export interface EventLog<E extends StoreEvent> {
  /** Every event up to here has been published. */
  readonly revision: Revision
  /** The newest revision of the store that is known, where the log may be behind it. */
  readonly happened?: Revision
  /** The next events after a revision, oldest first, about `limit` of them; throws if some are already discarded. */
  read(after: Revision, limit: number): LogSegment<E>
}

/** Consecutive events of a log. */
export interface LogSegment<E extends StoreEvent> {
  readonly events: readonly E[]
  /** The log has no later events at the moment. */
  readonly isLast: boolean
}

export interface Watchers<E extends StoreEvent> {
  /** Listens at an address for events after a revision that the store has reached. */
  watch(address: string, after: Revision, sink: WatchSink<E>): Watch
  /** Delivers events, oldest first, after the log has stored them. */
  publish(events: readonly E[]): void
  /** Ends the watchers that missed events up to `revision`, which the log is about to discard. */
  dropBehind(revision: Revision, error: (after: Revision) => StorageError): void
  /** Ends all watchers. */
  endAll(error: StorageError): void
  readonly size: number
}

/** The addresses at which an event is published. */
export interface Addressing<E extends StoreEvent> {
  addressesOf(event: E): readonly string[]
  /** Whether an address is among those of an event. */
  matches(address: string, event: E): boolean
}

/** How many events a watcher reads from the log before the next watcher gets its turn. */
const CATCH_UP_EVENTS = 500

/** How many events all watchers together read from the log before other work gets the event loop. */
const TURN_EVENTS = 5_000

export function createWatchers<E extends StoreEvent>(
  log: EventLog<E>,
  { addressesOf, matches: isHeardAt }: Addressing<E> = byKey,
): Watchers<E> {
  const all = new Set<Watcher<E>>()
  const live = new Map<string, Set<Watcher<E>>>()
  /** Watchers that must read the log: not live, or with an event that arrived while they were paused. */
  const lagging = new Set<Watcher<E>>()
  /** The lagging watchers that are scheduled to read, in order. */
  const due = new Set<Watcher<E>>()
  let turnAhead = false
  /** The events that are being delivered. */
  let publishing: E[] | undefined

  function goLive(watcher: Watcher<E>): void {
    const there = live.get(watcher.address)
    if (there) there.add(watcher)
    else live.set(watcher.address, new Set([watcher]))
    lagging.delete(watcher)
    watcher.live = true
    watcher.liveSince = watcher.position
    sendProgress(watcher)
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
      // The watch has ended already. The error must not affect other watchers.
    }
  }

  /** If a sink throws, its watch ends. The writer of the event and all other watchers are not affected. */
  function sinkFailed(watcher: Watcher<E>, cause: unknown): void {
    end(
      watcher,
      new StorageError('sink-failed', `a watcher failed to take what it was sent: ${String(cause)}`, undefined, cause),
    )
  }

  function deliver(watcher: Watcher<E>, event: E): void {
    if (watcher.live && event.revision <= watcher.liveSince) return // it went live after this event
    // Events of one revision (for example the keys of one expired etcd lease) are not separated by a pause.
    if (watcher.paused && event.revision !== watcher.position) {
      if (!lagging.has(watcher)) watcher.position = event.revision - 1 // it has received everything before this event
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

  /** Reads in bounded turns, so that new events, reads and writes do not wait for all lagging watchers. */
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

  /** Delivers the next log segment, goes live at its end, and returns how many events it read. */
  function catchUp(watcher: Watcher<E>): number {
    if (watcher.paused) return 0
    const upTo = log.revision
    let segment: LogSegment<E>
    try {
      segment = log.read(watcher.position, CATCH_UP_EVENTS)
    } catch (error) {
      end(watcher, error instanceof StorageError ? error : new StorageError('corrupt', String(error), undefined, error))
      return 1
    }
    const { events, isLast } = segment
    for (const event of events) {
      if (watcher.ended || (watcher.paused && event.revision !== watcher.position)) break
      if (isHeardAt(watcher.address, event)) deliver(watcher, event)
      else watcher.position = event.revision
    }
    if (!watcher.ended && !watcher.paused) {
      // If the sink wrote meanwhile, the log has more events.
      if (!isLast || log.revision !== upTo) schedule(watcher)
      else goLive(watcher)
    }
    return events.length + 1
  }

  /** Answers a progress request. A watcher that is still catching up gets its answer when it goes live. */
  function sendProgress(watcher: Watcher<E>): void {
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
          } else setImmediate(sendProgress, watcher)
        },
        requestProgress() {
          watcher.progressWanted = true
          setImmediate(sendProgress, watcher)
        },
        close: () => remove(watcher),
      }
    },

    publish(events) {
      // A sink may write during delivery. Its events wait until all watchers have the earlier ones.
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
      // A watcher that missed nothing is not lagging, so it is kept at any position.
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
  /** All events up to here that match the address were delivered. */
  position: Revision
  /** True: it receives published events. False: it reads the log. */
  live: boolean
  /** Its position when it went live; events up to here are not delivered again. */
  liveSince: Revision
  /** Its sink returned `false` and was not resumed yet. */
  paused: boolean
  progressWanted: boolean
  ended: boolean
}

const byKey: Addressing<StoreEvent> = {
  addressesOf: event => addressesOfKey(event.key),
  matches: (address, { key }) => key === address || hasPrefix(address, key),
}

/** Whether a key has the prefix. */
export const hasPrefix = (prefix: string, key: string): boolean => prefix.endsWith('/') && key.startsWith(prefix)

/** The addresses of a write: the key itself, and each of its prefixes that ends with a slash. */
export function addressesOfKey(key: string): string[] {
  const addresses = prefixesOf(key)
  addresses.push(key)
  return addresses
}
