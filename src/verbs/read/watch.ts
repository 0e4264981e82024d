// watch: what happens to the objects of a collection, from a version on, or after what is there now. What an event of
// the store is to a watcher is found in watched-change.ts.

import { type VersionedKind } from '../../kinds/kind.js'
import { type Status, StatusError, tooOldResourceVersion, unclassified } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import { parseResourceVersion } from '../../meta/options/resource-version.js'
import { keyPrefixOf, type ObjectEvent, type ObjectStore } from '../../objects/object-store.js'
import { type ObjectView } from '../../objects/object-view.js'
import { viewSelected } from '../../objects/select-entries.js'
import { type Selection, selectionOf } from '../../objects/selection.js'
import { asStatus, statusOf } from '../../objects/storage-status.js'
import { changeFor, type EventType } from '../../objects/watch-change.js'
import type { ResourceRequest } from '../../request/request.js'
import type { StorageError } from '../../storage/storage-error.js'
import type { ReadAt, Revision, Watch } from '../../storage/store.js'
import { type ApiContext } from '../api-context.js'

export type { EventType }

/** Where events go. All answer whether more may follow at once; if not, `resume` says when. */
export interface EventSink {
  /** `source` is the same for all watchers that are told of it, so that its encoding can be shared. */
  event(type: EventType, object: ObjectView, source: ObjectEvent | undefined): boolean
  /** All events up to this revision have been told; `initial` when these were what was there at the start. */
  bookmark(revision: Revision, initial: boolean): boolean
  /** The watch is over; a Status tells why, where it is the server's fault. */
  end(status?: Status): void
}

export interface OpenWatch {
  resume(): void
  stop(): void
}

/** Checked and ready to begin. */
export interface PreparedWatch {
  readonly served: VersionedKind
  /** How long the client wants it to last; undefined leaves it to the server. */
  readonly timeoutSeconds?: number | undefined
  start(sink: EventSink): OpenWatch
}

/** How often a watcher that wants to know is told how far it is. */
const BOOKMARK_MS = 60_000
const PAGE = 500

export function prepareWatch(context: ApiContext, request: ResourceRequest<ListOptions>): PreparedWatch {
  const { target, options } = request
  const { kind, version, namespace } = target
  const selection = selectionOf(version, options)
  const from = parseResourceVersion(options.resourceVersion)
  if (!from.ok) throw unclassified(from.error)
  const store = context.objectStore(kind)
  const prefix = keyPrefixOf(kind, namespace)
  return {
    served: target,
    timeoutSeconds: options.timeoutSeconds,
    start: sink => run({ store, prefix, request, selection, from: from.value, sink }),
  }
}

interface WatchRun {
  readonly store: ObjectStore
  readonly prefix: string
  readonly request: ResourceRequest<ListOptions>
  readonly selection: Selection
  readonly from: bigint
  readonly sink: EventSink
}

function run({ store, prefix, request, selection, from, sink }: WatchRun): OpenWatch {
  const { target: served, options } = request
  let upstream: Watch | undefined
  let bookmarks: NodeJS.Timeout | undefined
  let stopped = false
  /** Continues what waits for the sink to take more. */
  let wake: (() => void) | undefined
  /** An event waits for its conversion; nothing may overtake it. */
  let isConverting = false

  function stop(): void {
    stopped = true
    upstream?.close()
    clearInterval(bookmarks)
    wake?.()
  }

  function end(status?: Status): void {
    if (stopped) return
    stop()
    sink.end(status)
  }

  async function begin(): Promise<void> {
    const after = options.sendInitialEvents ? await tellInitial() : await startOf()
    if (!stopped && after !== undefined) follow(after)
  }

  /**
   * Who names no version, and does not want what is there, begins with what comes. For who names one that is still to
   * come there is nothing to tell: it is left to wait until its time is over.
   */
  async function startOf(): Promise<Revision | undefined> {
    const { since = 0 } = served.kind
    if (from !== 0n && from < since) throw tooOldResourceVersion(from, since)
    const latest = await asStatus(from, () => store.cache.revision())
    return from === 0n ? latest : from > latest ? undefined : Number(from)
  }

  /** What is there, at one revision, as if it had just been added. */
  async function tellInitial(): Promise<Revision> {
    let at: ReadAt = from === 0n ? (options.resourceVersion === '' ? 'latest' : 'any') : { notOlderThan: Number(from) }
    let startAfter: string | undefined
    for (;;) {
      const page = await asStatus(from, () => store.cache.range(prefix, { at, limit: PAGE, startAfter }))
      for (const shown of await viewSelected(served, selection, page.entries, request)) {
        if (stopped) return page.revision
        if (shown && !sink.event('ADDED', shown, undefined)) await room()
      }
      if (page.remaining === 0) {
        if (options.allowWatchBookmarks && !sink.bookmark(page.revision, true)) await room()
        return page.revision
      }
      at = { exactly: page.revision }
      startAfter = page.entries.at(-1)!.key
    }
  }

  const room = (): Promise<void> =>
    new Promise(resolve => {
      wake = resolve
    })

  function follow(after: Revision): void {
    const { name, term } = selection
    const isKey = name !== undefined && isPlainName(name) && !spansNamespaces(served, prefix)
    upstream = store.cache.watch(
      isKey ? `${prefix}${name}` : prefix,
      after,
      {
        event: tell,
        progress: revision => void (isConverting || sink.bookmark(revision, false)),
        end: error => end(reason(error, from)),
      },
      // Events are sent by the fields of the version in which objects are stored.
      isKey || served.kind.versions.length > 1 ? undefined : term,
    )
    if (options.allowWatchBookmarks) {
      bookmarks = setInterval(() => upstream?.requestProgress(), BOOKMARK_MS)
      bookmarks.unref()
    }
  }

  /** Tells the event as the watcher sees it. */
  function tell(event: ObjectEvent): boolean {
    try {
      const change = changeFor(served, selection, event)
      if (!(change instanceof Promise)) return change === undefined || sink.event(change.type, change.object, event)
      isConverting = true
      change
        .then(made => {
          isConverting = false
          if (stopped) return
          if (made === undefined || sink.event(made.type, made.object, event)) upstream?.resume()
        })
        .catch(fail)
    } catch (error) {
      fail(error)
    }
    return false
  }

  function fail(error: unknown): void {
    if (!(error instanceof StatusError)) request.log.error('a watch failed', { error })
    end(error instanceof StatusError ? error.status : undefined)
  }

  begin().catch(fail)

  return {
    resume() {
      const waiting = wake
      wake = undefined
      if (waiting) waiting()
      else if (!isConverting) upstream?.resume()
    },
    stop,
  }
}

/** Why a watch ends. One that was too slow, or whose server stops, may go on from where it was, and is told nothing. */
function reason(error: StorageError, requested: bigint): Status | undefined {
  if (error.code === 'closed' || error.code === 'slow-watcher') return undefined
  if (error.code === 'compacted') return tooOldResourceVersion(requested, error.revision ?? 0).status
  return statusOf(error, requested).status
}

const isPlainName = (name: string): boolean => name !== '' && !name.includes('/') && !name.includes('\0')

const spansNamespaces = ({ kind }: VersionedKind, prefix: string): boolean =>
  kind.namespaced && prefix === kind.keyPrefix

/** The object of a bookmark: nothing but its kind and how far the watch is. */
export function bookmarkObject({ kind, version }: VersionedKind, revision: Revision, initial: boolean): ApiObject {
  return {
    apiVersion: kind.group === '' ? version.name : `${kind.group}/${version.name}`,
    kind: kind.names.kind,
    metadata: {
      resourceVersion: String(revision),
      ...(initial && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  }
}
