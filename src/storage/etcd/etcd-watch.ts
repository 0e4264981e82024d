// A watch on etcd that outlives its connections: every event in order, once, none missing.
//
// Each has a gRPC stream of its own. What arrives goes through a queue that is emptied into the sink; while the sink
// takes nothing, nothing is read from the network, so that the queue stays as small as what was already on its way.
// Long responses come in fragments, since etcd tells of a thousand revisions in one when a watch has to catch up.
//
// On progress. Once in a while (ten minutes, unless etcd is told otherwise) etcd says of itself up to which revision a
// watch has got all events; that comes through the same queue as the events and can be relied on. A client may also
// ask for it, but before 3.4.25 and 3.5.8 the answer passes by that queue and may overtake events that it claims were
// sent, and before 3.4.31 and 3.5.13 it may never come. There we do not ask. Nothing else says the same at once:
// a read does not show what was created and deleted in between, a second watch stays silent where there is nothing to
// tell and may be behind or ahead of the first one, and an event that we cause ourselves would have to be written
// among the data of others. So there `progress` is told when an event or etcd's own notification gets that far.
import { StorageError } from '../storage-error.js'
import type { Revision, StoreEvent, Watch, WatchSink } from '../store.js'
import type { Connection } from './connection.js'
import { type EtcdClient, REQUIRE_LEADER } from './etcd-client.js'
import type { KeyLayout } from './etcd-keys.js'
import type { EtcdReads } from './etcd-reads.js'
import { createEventIntake } from './event-intake.js'
import { callHeaders, type DuplexStream, duplex, GrpcCode, GrpcError } from './grpc.js'
import { EventType, WATCH, type WatchEvent, type WatchResponse } from './messages.js'

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
  /** Told which version of etcd is at the other end. */
  onVersion(version: string): void
  onOver(): void
}

const FIRST_BACKOFF_MS = 20
const MAX_BACKOFF_MS = 1_000
const PROGRESS_POLL_MS = 100

/** What is to be handed to the sink, in order. */
type Item =
  | { readonly event: StoreEvent }
  /** All events up to this revision are through. */
  | { readonly progress: Revision }
  | { readonly end: StorageError }

export function openEtcdWatch(options: EtcdWatchOptions): EtcdWatch {
  const { client, reads, layout, target, sink } = options
  const isFolder = target.endsWith('/')
  const queue: Item[] = []
  let head = 0
  const intake = createEventIntake(options.after)
  let stream: DuplexStream | undefined
  /** Lets go of the stream. */
  let unfollow: (() => void) | undefined
  /** A stream is `checking` until it is sure that history reaches back to where it begins. */
  let stage: 'opening' | 'checking' | 'live' = 'opening'
  let trusted = false
  let paused = false
  let draining = false
  /** The end is in the queue. */
  let atEnd = false
  let over = false
  let failures = 0
  const progress = createProgressRequests()

  setImmediate(() => void run())

  async function run(): Promise<void> {
    for (;;) {
      try {
        const connection = await client.endpoints.connect(Date.now() + client.timeoutMs)
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

  /** Follows one stream for as long as it lives and the watch needs it. */
  async function follow(connection: Connection): Promise<void> {
    connection.begin()
    intake.begin()
    stage = 'opening'
    trusted = options.trustRequestedProgress ?? false
    try {
      await new Promise<void>((resolve, reject) => {
        const opened = duplex(
          connection.session,
          callHeaders(WATCH.path, REQUIRE_LEADER),
          { onSign: connection.sign },
          {
            message(bytes) {
              if (stream !== opened) return
              try {
                take(WATCH.decode(bytes), connection, reject)
              } catch (error) {
                reject(error)
              }
            },
            end: reject,
          },
        )
        stream = opened
        unfollow = resolve
        opened.send(createRequest())
      })
    } catch (error) {
      if (error instanceof GrpcError) client.endpoints.turnFrom(connection)
      throw error
    } finally {
      stream?.close()
      stream = undefined
      connection.finish()
    }
  }

  function createRequest(): Buffer {
    return WATCH.encode({
      create: {
        key: layout.keyOf(target),
        ...(isFolder && { rangeEnd: layout.endOf(target) }),
        startRevision: intake.received + 1,
        progressNotify: true,
        prevKv: true,
        fragment: true,
      },
    })
  }

  function take(response: WatchResponse, connection: Connection, reject: (error: unknown) => void): void {
    if (response.canceled) {
      if (response.compactRevision === 0) {
        throw new GrpcError(GrpcCode.cancelled, response.cancelReason || 'etcd ended the watch', 'answered')
      }
      putEnd(compactedAt(intake.received, response.compactRevision))
    } else if (response.created) {
      stage = 'checking'
      confirm(connection).catch(reject)
    } else if (response.events.length > 0) takeEvents(response)
    else if (response.header) {
      intake.advance(response.header.revision)
      queue.push({ progress: intake.received })
    }
    progress.settle()
    drain()
  }

  /**
   * etcd takes a watch from a revision that has not happened yet without a word, and one from the very revision that
   * was compacted to though it may have lost an event of that revision. So a read tells where history begins and ends,
   * through the leader since the member at hand may lag behind.
   */
  async function confirm(connection: Connection): Promise<void> {
    const mine = stream
    await reads.checkHistory(intake.received)
    if (stream !== mine) return
    stage = 'live'
    failures = 0
    drain()
    if (options.trustRequestedProgress === undefined) {
      const version = await client.versionAt(connection)
      if (stream !== mine || version === undefined) return
      options.onVersion(version)
      trusted = answersProgressRightly(version)
    }
    progress.ask()
  }

  function takeEvents({ events, fragment }: WatchResponse): void {
    for (const raw of intake.take(events, fragment)) {
      const event = toStoreEvent(raw, layout)
      if (!event) return putEnd(compactedAt(raw.kv!.modRevision - 1, raw.kv!.modRevision))
      queue.push({ event })
    }
  }

  /** The end comes after what is in the queue; nothing more is read. */
  function putEnd(error: StorageError): void {
    if (stage !== 'live') return end(error)
    queue.push({ end: error })
    atEnd = true
    unfollow?.()
  }

  /** Hands on what there is for as long as the sink takes it. */
  function drain(): void {
    if (draining) return
    draining = true
    while (mayHand()) hand(queue[head++]!)
    draining = false
    if (head === queue.length || over) {
      queue.length = 0
      head = 0
    }
    if (stage === 'checking' || (stage === 'live' && paused)) stream?.pause()
    else stream?.resume()
  }

  const mayHand = (): boolean => !over && !paused && stage === 'live' && head < queue.length

  function hand(item: Item): void {
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
    unfollow?.()
    progress.stop()
    options.onOver()
  }

  /** Requests for progress: what they wait for, and who asks etcd for it. */
  function createProgressRequests() {
    let lowest: Revision | undefined
    let highest = 0
    let reading = false
    let again = false
    let timer: NodeJS.Timeout | undefined

    /** Finds out which revision is the latest: progress up to there answers all requests made before. */
    async function request(): Promise<void> {
      if (reading) {
        again = true
        return
      }
      reading = true
      do {
        again = false
        try {
          highest = await reads.revision()
          lowest ??= highest
        } catch {
          if (over || client.isClosed) return
          again = true
          await delay(PROGRESS_POLL_MS)
        }
      } while (again)
      reading = false
      if (over) return
      if (!settle()) ask()
      drain()
    }

    /** Tells progress if some of those who wait have what they wait for; answers whether nobody waits any more. */
    function settle(): boolean {
      if (lowest !== undefined && intake.received >= lowest && !intake.within) {
        lowest = intake.received >= highest ? undefined : highest
        queue.push({ progress: intake.received })
      }
      return lowest === undefined
    }

    /** A member that lags behind answers with an older revision, so that one may have to ask it again. */
    function ask(): void {
      clearTimeout(timer)
      if (over || paused || lowest === undefined || !trusted || !stream) return
      stream.send(WATCH.encode({ progress: {} }))
      timer = setTimeout(ask, PROGRESS_POLL_MS)
      timer.unref()
    }

    return { request, settle, ask, stop: () => clearTimeout(timer) }
  }

  return {
    resume() {
      if (!paused || over) return
      paused = false
      setImmediate(() => {
        drain()
        progress.ask()
      })
    },
    requestProgress() {
      if (!over) void progress.request()
    },
    close() {
      if (!over) leave()
    },
    end,
  }
}

/** Whether this version of etcd answers a request for progress, and not before the events that it speaks of. */
export function answersProgressRightly(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}

/** Nothing when part of the event has been compacted: what was there before cannot be told any more. */
export function toStoreEvent({ type, kv, prevKv }: WatchEvent, layout: KeyLayout): StoreEvent | undefined {
  if (!kv) throw new Error('etcd sent an event without a key')
  const created = type === EventType.put && kv.createRevision === kv.modRevision
  if (!created && !prevKv) return undefined
  return {
    revision: kv.modRevision,
    key: layout.pathOf(kv.key),
    value: type === EventType.put ? Buffer.from(kv.value) : undefined,
    previous: created || !prevKv ? undefined : layout.entryOf(prevKv),
  }
}

const compactedAt = (after: Revision, oldest: Revision): StorageError =>
  new StorageError(
    'compacted',
    `events after revision ${after} are no longer available: history begins at ${oldest}`,
    oldest,
  )

/** Errors after which trying again is of no use. */
const isFinal = (error: unknown): error is StorageError =>
  error instanceof StorageError && ['compacted', 'future-revision', 'closed'].includes(error.code)

const delay = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms).unref())
