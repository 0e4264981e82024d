// A watch on etcd that continues across connections: every event in order, once, none missing.
//
// Each watch has its own gRPC stream. Responses go through a queue to the sink; while the sink is paused nothing is read
// from the network, so the queue holds only what had already arrived. Long responses come in fragments, because etcd
// sends up to a thousand revisions in one response while a watch catches up.
//
// Progress: at intervals (ten minutes by default) etcd reports up to which revision a watch has all events. That report
// passes through the same queue as the events and is reliable. A client may also request it, but before 3.4.25 and 3.5.8
// the answer bypasses that queue and may overtake events that it covers, and before 3.4.31 and 3.5.13 it may never come.
// On those versions progress is not requested. There is no other way to learn it at once: a read does not show keys
// that were created and deleted in between, a second watch sends nothing if there are no events and may be ahead of or
// behind the first one, and a write of our own would add keys to data that other processes use. So on those versions
// `progress` is reported when an event or etcd's own notification reaches the revision.
import { StorageError } from '../storage-error.js'
import type { Revision, StoreEvent, Watch, WatchSink } from '../store.js'
import type { Connection } from './client/connection.js'
import { type EtcdClient, REQUIRE_LEADER } from './client/etcd-client.js'
import { callHeaders, type DuplexStream, duplex, GrpcCode, GrpcError } from './client/grpc.js'
import { EventType, WATCH, type WatchEvent, type WatchResponse } from './client/messages.js'
import type { KeyLayout } from './etcd-keys.js'
import type { EtcdReads } from './etcd-reads.js'
import { createEventIntake } from './event-intake.js'
import { checkSameData, isReplaced, type KnownData, type LastEvent, stateOf } from './replaced-data.js'

export interface EtcdWatch extends Watch {
  /** Ends the watch from the store's side. */
  end(error: StorageError): void
}

export interface EtcdWatchOptions {
  readonly client: EtcdClient
  readonly reads: EtcdReads
  readonly layout: KeyLayout
  readonly target: string
  readonly after: Revision
  readonly sink: WatchSink
  readonly trustRequestedProgress: boolean | undefined
  /** Reports the version of etcd at the other end. */
  onVersion(version: string): void
  /** Reports that etcd has other data than before. */
  onReplaced(reason: string): void
  onOver(): void
}

const FIRST_BACKOFF_MS = 20
const MAX_BACKOFF_MS = 1_000
const PROGRESS_POLL_MS = 100

/** An item for the sink; the queue is in order. */
type Item =
  | { readonly event: StoreEvent }
  /** All events up to this revision were delivered. */
  | { readonly progress: Revision }
  | { readonly end: StorageError }

export function openEtcdWatch(options: EtcdWatchOptions): EtcdWatch {
  const { client, reads, layout, target, sink } = options
  const isPrefix = target.endsWith('/')
  const queue: Item[] = []
  let head = 0
  const intake = createEventIntake(options.after)
  /** The last event that arrived. */
  let last: LastEvent | undefined
  /** What was known when a stream was last live: the next one must find the same. */
  let known: KnownData = { revision: options.after, header: undefined, last: undefined }
  let stream: DuplexStream | undefined
  /** Stops following the stream. */
  let stopFollowing: (() => void) | undefined
  /** A stream is `checking` until it is certain that history reaches back to its start. */
  let stage: 'opening' | 'checking' | 'live' = 'opening'
  let trusted = false
  let paused = false
  let draining = false
  /** The last item of the queue is `end`. */
  let atEnd = false
  let over = false
  let failures = 0
  const progress = createProgressRequests()

  const isLive = (): boolean => stage === 'live'

  setImmediate(() => void run())

  async function run(): Promise<void> {
    for (;;) {
      try {
        const connection = await client.endpoints.connect(performance.now() + client.timeoutMs)
        if (over) return
        await follow(connection)
      } catch (error) {
        if (isFinal(error)) end(error)
      }
      if (over || atEnd) return
      const max = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures++)
      await delay(max * (0.5 + Math.random() / 2))
    }
  }

  /** Reads one stream until it ends or the watch is done. */
  async function follow(connection: Connection): Promise<void> {
    intake.begin()
    stage = 'opening'
    trusted = options.trustRequestedProgress ?? false
    try {
      await new Promise<void>((resolve, reject) => {
        const opened = duplex(connection, callHeaders(connection, WATCH.path, REQUIRE_LEADER), {
          message(bytes) {
            if (stream !== opened) return
            try {
              receive(WATCH.decode(bytes), connection, reject)
            } catch (error) {
              reject(error)
            }
          },
          end: reject,
        })
        stream = opened
        stopFollowing = resolve
        opened.send(createRequest())
      })
    } catch (error) {
      if (error instanceof GrpcError) client.endpoints.failOver(connection)
      throw error
    } finally {
      if (isLive()) known = { ...known, ...stateOf(intake, last) }
      stream?.close()
      stream = undefined
    }
  }

  function createRequest(): Buffer {
    return WATCH.encode({
      create: {
        key: layout.keyOf(target),
        ...(isPrefix && { rangeEnd: layout.endOf(target) }),
        startRevision: intake.received + 1,
        progressNotify: true,
        // etcd reads it from its database, for each event and each watch.
        prevKv: sink.knowsPrevious !== true,
        fragment: true,
      },
    })
  }

  function receive(response: WatchResponse, connection: Connection, reject: (error: unknown) => void): void {
    if (response.canceled) {
      if (response.compactRevision === 0) {
        throw new GrpcError(GrpcCode.cancelled, response.cancelReason || 'etcd ended the watch', 'answered')
      }
      putEnd(compactedAt(intake.received, response.compactRevision))
    } else if (response.created) {
      stage = 'checking'
      confirm(connection).catch(reject)
    } else if (response.events.length > 0) receiveEvents(response)
    else if (response.header) {
      intake.advance(response.header.revision)
      queue.push({ progress: intake.received })
      progress.answered()
    }
    progress.answerReached()
    drain()
  }

  /**
   * etcd accepts a watch from a future revision without an error, and one from the compaction revision itself although an
   * event of that revision may be lost. So a read checks that the start is within history, and that the history is the one
   * of before. It goes through the leader, because the connected member may lag behind.
   */
  async function confirm(connection: Connection): Promise<void> {
    const mine = stream
    try {
      await compareData()
    } catch (error) {
      // At first the revision is that of a client, which may be any.
      if (known.header && isReplaced(error)) options.onReplaced(error.message)
      throw error
    }
    if (stream !== mine) return
    stage = 'live'
    failures = 0
    drain()
    if (options.trustRequestedProgress === undefined) {
      const version = await client.versionAt(connection)
      if (stream !== mine || version === undefined) return
      options.onVersion(version)
      trusted = hasReliableProgress(version)
    }
    progress.sendRequest()
  }

  async function compareData(): Promise<void> {
    const { header, found } = await reads.checkHistory(known.revision, known.last?.path)
    checkSameData(known, header, found)
    known = { ...known, header }
  }

  function receiveEvents({ events, fragment }: WatchResponse): void {
    for (const raw of intake.take(events, fragment)) {
      const event = toStoreEvent(raw, layout, sink.knowsPrevious)
      if (!event) return putEnd(compactedAt(raw.kv!.modRevision - 1, raw.kv!.modRevision))
      last = { path: event.key, revision: event.revision, isDelete: event.value === undefined }
      queue.push({ event })
    }
  }

  /** Ends the watch after the items in the queue; nothing more is read. */
  function putEnd(error: StorageError): void {
    if (stage !== 'live') return end(error)
    queue.push({ end: error })
    atEnd = true
    stopFollowing?.()
  }

  /** Delivers items while the sink accepts them. */
  function drain(): void {
    if (draining) return
    draining = true
    while (canDeliver()) deliver(queue[head++]!)
    draining = false
    if (head === queue.length || over) {
      queue.length = 0
      head = 0
    }
    if (stage === 'checking' || (stage === 'live' && paused)) stream?.pause()
    else stream?.resume()
  }

  const canDeliver = (): boolean => !over && !paused && isLive() && head < queue.length

  function deliver(item: Item): void {
    if ('end' in item) return end(item.end)
    try {
      if ('progress' in item) sink.progress?.(item.progress)
      else if (sink.event(item.event) === false) paused = true
    } catch (cause) {
      end(
        new StorageError(
          'sink-failed',
          `a watcher failed to take what it was sent: ${String(cause)}`,
          undefined,
          cause,
        ),
      )
    }
  }

  function end(error: StorageError): void {
    if (over) return
    leave()
    sink.end(error)
  }

  function leave(): void {
    over = true
    stopFollowing?.()
    progress.stop()
    options.onOver()
  }

  /** Progress requests of the watch: the revisions that they wait for, and the requests sent to etcd. */
  function createProgressRequests() {
    let lowest: Revision | undefined
    let highest = 0
    let reading = false
    let again = false
    /** The highest revision that was waited for when a request was sent that is not answered yet. */
    let asked: Revision | undefined
    let timer: NodeJS.Timeout | undefined

    function waitFor(revision: Revision): void {
      lowest = Math.min(lowest ?? revision, revision)
      highest = Math.max(highest, revision)
      if (!answerReached() && asked === undefined) sendRequest()
      drain()
    }

    /** Progress has come. What was waited for after the request was sent needs another one. */
    function answered(): void {
      const before = asked
      asked = undefined
      if (!answerReached() && before !== undefined && before < highest) sendRequest()
    }

    /** Reads the latest revision: progress up to there answers all requests made before. */
    async function requestLatest(): Promise<void> {
      if (reading) {
        again = true
        return
      }
      reading = true
      let latest = 0
      do {
        again = false
        try {
          latest = await reads.revision()
        } catch {
          if (over || client.isClosed) return
          again = true
          await delay(PROGRESS_POLL_MS)
        }
      } while (again)
      reading = false
      if (!over) waitFor(latest)
    }

    /** Reports progress if a waiting request is satisfied; returns whether none is left. */
    function answerReached(): boolean {
      if (lowest !== undefined && intake.received >= lowest && !intake.within) {
        lowest = intake.received >= highest ? undefined : highest
        queue.push({ progress: intake.received })
      }
      return lowest === undefined
    }

    /** A member that lags behind answers with an older revision, so the request is repeated. */
    function sendRequest(): void {
      clearTimeout(timer)
      asked = undefined
      if (over || paused || lowest === undefined || !trusted || !stream) return
      asked = highest
      stream.send(WATCH.encode({ progress: {} }))
      timer = setTimeout(sendRequest, PROGRESS_POLL_MS)
      timer.unref()
    }

    return { waitFor, requestLatest, answered, answerReached, sendRequest, stop: () => clearTimeout(timer) }
  }

  return {
    resume() {
      if (!paused || over) return
      paused = false
      setImmediate(() => {
        drain()
        progress.sendRequest()
      })
    },
    requestProgress(reached) {
      if (over) return
      if (reached === undefined) void progress.requestLatest()
      else progress.waitFor(reached)
    },
    close() {
      if (!over) leave()
    },
    end,
  }
}

/** Whether this version of etcd answers progress requests, and not before the events that the answer covers. */
export function hasReliableProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}

/** Undefined if the previous value of the event has been compacted, and is not known. */
export function toStoreEvent(
  { type, kv, prevKv }: WatchEvent,
  layout: KeyLayout,
  knowsPrevious = false,
): StoreEvent | undefined {
  if (!kv) throw new Error('etcd sent an event without a key')
  const created = type === EventType.put && kv.createRevision === kv.modRevision
  if (!created && !prevKv && !knowsPrevious) return undefined
  return {
    revision: kv.modRevision,
    key: layout.pathOf(kv.key),
    value: type === EventType.put ? kv.value : undefined,
    previous: created || !prevKv ? undefined : layout.entryOf(prevKv),
  }
}

const compactedAt = (after: Revision, oldest: Revision): StorageError =>
  new StorageError(
    'compacted',
    `events after revision ${after} are no longer available: history begins at ${oldest}`,
    oldest,
  )

/** Errors after which a retry is useless. */
const isFinal = (error: unknown): error is StorageError =>
  error instanceof StorageError && ['compacted', 'future-revision', 'data-replaced', 'closed'].includes(error.code)

const delay = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms).unref())
