// watch: the changes of the objects of a collection, from a resourceVersion on or after the objects that exist now. What
// an event of the store is to a watcher is decided in objects/watch-change.ts.

import { type VersionedKind } from '../../kinds/kind.js'
import { type Status, StatusError, tooOldResourceVersion, unclassified } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import { parseResourceVersion } from '../../meta/options/resource-version.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type InitialPage, keyPrefixOf, type ObjectEvent, type ObjectStore } from '../../objects/object-store.js'
import { type ObjectView } from '../../objects/object-view.js'
import { viewSelected } from '../../objects/select-entries.js'
import { type Selection, selectionOf } from '../../objects/selection.js'
import { asStatus, statusOf } from '../../objects/storage-status.js'
import type { EventType } from '../../objects/watch-change.js'
import type { ResourceRequest } from '../../request/request.js'
import type { StorageError } from '../../storage/storage-error.js'
import type { ReadAt, Revision, Watch } from '../../storage/store.js'
import type { AttributeTerm } from '../../storage/watch-cache.js'
import { zeroOf } from '../../types/decode.js'
import { type ApiContext } from '../api-context.js'
import { PAGE_BYTES } from './list.js'

export type { EventType }

/** Takes the events. `event` and `bookmark` return false if the next one must wait for `resume`. */
export interface EventSink {
  /** `source` is the same for all watchers of the event, so that they can share its encoding. */
  event(type: EventType, object: ObjectView, source: object | undefined): boolean
  /** All events up to this revision have been sent; `initial` if these were the objects that existed at the start. */
  bookmark(revision: Revision, initial: boolean): boolean
  /** The watch is over; with a Status if it failed. */
  end(status?: Status): void
}

export interface OpenWatch {
  resume(): void
  stop(): void
}

/** A watch whose options are checked. */
export interface PreparedWatch {
  readonly versioned: VersionedKind
  /** The requested duration; undefined leaves it to the server. */
  readonly timeoutSeconds?: number | undefined
  start(sink: EventSink): OpenWatch
}

/** How often a watch that allows bookmarks gets one. */
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
    versioned: target,
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
  const { target: versioned, options } = request
  const notBefore = Number(from)
  let upstream: Watch | undefined
  let bookmarks: NodeJS.Timeout | undefined
  let stopped = false
  /** Continues after the sink can take more. */
  let wake: (() => void) | undefined
  /** An event waits for its conversion; later events must wait for it. */
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
    const after = options.sendInitialEvents ? await sendInitial() : await startRevision()
    if (!stopped) watchFrom(after)
  }

  /** A watch from a resourceVersion that is not reached yet begins now; `send` leaves out what is not after it. */
  async function startRevision(): Promise<Revision> {
    const { since = 0 } = versioned.kind
    if (from !== 0n && from < since) throw tooOldResourceVersion(from, since)
    const latest = await asStatus(from, () => store.cache.revision())
    return from === 0n || from > latest ? latest : Number(from)
  }

  /** The objects that exist at one revision, as ADDED events. */
  async function sendInitial(): Promise<Revision> {
    let at: ReadAt = from === 0n ? (options.resourceVersion === '' ? 'latest' : 'any') : { notOlderThan: Number(from) }
    let startAfter: string | undefined
    let begun: Revision | undefined
    for (;;) {
      const known = await knownPage(at, startAfter)
      const page: InitialPage = known ?? (await readPage(at, startAfter))
      const { mark, views, lastKey, remaining } = page
      const after: Revision = begun ?? known?.after ?? mark.revision
      begun = after
      for (const view of views) {
        if (stopped) return after
        if (view && !sink.event('ADDED', view, known && view)) await drained()
      }
      if (remaining === 0) {
        if (options.allowWatchBookmarks && !sink.bookmark(after, true)) await drained()
        return after
      }
      at = { exactly: mark.revision }
      startAfter = lastKey
    }
  }

  const nameOfPage = (at: ReadAt, startAfter = ''): string =>
    [versioned.version.name, prefix, selection.text, isExact(at) ? at.exactly : '', startAfter].join(NUL)

  /** A page that another watch has begun with, if nothing was written since. `after` is how far that is known. */
  async function knownPage(
    at: ReadAt,
    startAfter: string | undefined,
  ): Promise<(InitialPage & { readonly after: Revision }) | undefined> {
    const page = store.initialPages.find(nameOfPage(at, startAfter))
    if (!page || isExact(at)) return page && { ...page, after: page.mark.revision }
    const changes = await store.cache.changesSince(prefix, page.mark, at)
    return changes?.events.length === 0 ? { ...page, after: changes.mark.revision } : undefined
  }

  async function readPage(at: ReadAt, startAfter: string | undefined): Promise<InitialPage> {
    const { epoch } = store.cache.mark(0)
    const terms = selection.terms(versioned)
    const { entries, isSelected, revision, remaining } = await asStatus(from, () =>
      store.cache.range(prefix, { at, limit: PAGE, maxBytes: PAGE_BYTES, startAfter, terms }),
    )
    const views = viewSelected(store.views, versioned, selection, entries, request, isSelected)
    const bytes = entries.reduce((sum, { value }) => sum + value.length, 0)
    const page = { mark: { revision, epoch }, bytes, lastKey: entries.at(-1)?.key, remaining }
    // What a webhook converts is read again: the request that began with it may end meanwhile.
    if (views instanceof Promise) return { ...page, views: await views }
    const made = { ...page, views }
    store.initialPages.keep(nameOfPage(at, startAfter), made)
    return made
  }

  const drained = (): Promise<void> =>
    new Promise(resolve => {
      wake = resolve
    })

  function watchFrom(after: Revision): void {
    const { name } = selection
    const isKey = name !== undefined && isPlainName(name) && !spansNamespaces(versioned, prefix)
    upstream = store.cache.watch(
      isKey ? `${prefix}${name}` : prefix,
      after,
      {
        event: send,
        progress: revision => void (isConverting || revision < notBefore || sink.bookmark(revision, false)),
        end: error => end(reason(error, from)),
      },
      isKey ? undefined : mostSelective(selection.terms(versioned)),
    )
    if (options.allowWatchBookmarks) {
      bookmarks = setInterval(() => upstream?.requestProgress(), BOOKMARK_MS)
      bookmarks.unref()
    }
  }

  /** Sends the event as this watcher sees it. */
  function send(event: ObjectEvent): boolean {
    if (event.revision <= notBefore) return true
    try {
      const change = store.changes.changeFor(versioned, selection, event)
      if (!(change instanceof Promise)) return change === undefined || sink.event(change.type, change.object, event)
      isConverting = true
      change
        .then(ready => {
          isConverting = false
          if (stopped) return
          if (ready === undefined || sink.event(ready.type, ready.object, event)) upstream?.resume()
        })
        .catch(fail)
    } catch (error) {
      fail(error)
    }
    return false
  }

  function fail(error: unknown): void {
    if (!(error instanceof StatusError)) request.log.error('a watch failed', { error })
    // An object that cannot be read has no reason elsewhere; in a watch, kube-apiserver gives it one.
    end(error instanceof StatusError ? { reason: 'InternalError', ...error.status } : undefined)
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

/** The Status at the end of a watch. A client that was too slow, or whose server stops, can start again where it was. */
function reason(error: StorageError, requested: bigint): Status | undefined {
  if (error.code === 'closed' || error.code === 'slow-watcher') return undefined
  if (error.code === 'compacted') return tooOldResourceVersion(requested, error.revision ?? 0).status
  return statusOf(error, requested).status
}

/** An event is compared with one term before it is delivered: with one value, if possible, since that is a look-up. */
const mostSelective = (terms: readonly AttributeTerm[]): AttributeTerm | undefined =>
  terms.find(({ values }) => values?.length === 1) ?? terms.find(({ values }) => values) ?? terms[0]

const isExact = (at: ReadAt): at is { readonly exactly: Revision } => typeof at === 'object' && 'exactly' in at

/** Names and selectors have none. */
const NUL = '\0'

const isPlainName = (name: string): boolean => name !== '' && !name.includes('/') && !name.includes('\0')

const spansNamespaces = ({ kind }: VersionedKind, prefix: string): boolean =>
  kind.namespaced && prefix === kind.keyPrefix

/** The object of a bookmark: its kind and a resourceVersion, and what a Go struct prints even if nothing is set. */
export function bookmarkObject({ kind, version }: VersionedKind, revision: Revision, initial: boolean): ApiObject {
  const { type } = version
  return {
    ...(type.dialect === 'go' ? (zeroOf(type) as ValueObject) : {}),
    apiVersion: kind.group === '' ? version.name : `${kind.group}/${version.name}`,
    kind: kind.names.kind,
    metadata: {
      resourceVersion: String(revision),
      ...(initial && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  }
}
