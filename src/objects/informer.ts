// An informer: reads all entries of a key prefix, then watches it, and starts again when the watch ends. An entry that its
// handler cannot read (damaged, encrypted with another key) is logged and left out. Everything is read again after a while, since
// nothing announces that a key is known again, such as when a KMS plugin answers.

import { type Logger, NO_LOGGER } from '../base/logger.js'
import { nextTurn } from '../base/turns.js'
import type { Kind } from '../kinds/kind.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { FIRST_LIMIT, limitAfter } from '../storage/page-limit.js'
import type { Entry, Page, RangeOptions, Revision, StoreEvent, Watch, WatchSink } from '../storage/store.js'
import { objectKeyOf } from './object-store.js'
import type { ObjectStores } from './object-stores.js'
import { decodeStored } from './stored-object.js'

/** A store, or the watch cache of a part of one. */
export interface InformerSource<En extends Entry, Ev extends StoreEvent> {
  range(prefix: string, options?: RangeOptions): Promise<Page & { readonly entries: readonly En[] }>
  watch(target: string, after: Revision, sink: WatchSink<Ev>): Watch
}

export interface InformerHandler<En extends Entry, Ev extends StoreEvent> {
  /** All entries follow, because none were read before or because events may have been missed. */
  begin?(): void
  entry(entry: En): void
  /** All entries that existed at one revision were passed to `entry`. */
  complete?(): void
  event(event: Ev): void
}

export interface Informer {
  /** The keys of the entries that could not be read. */
  readonly unreadable: ReadonlySet<string>
  /** Resolves when all entries have been read for the first time; rejects if they could not be read. */
  readonly started: Promise<void>
  stop(): void
}

const PAGE_LIMITS = { entries: 500, bytes: 1024 * 1024 }
const RETRY_MS = 200
/** After how long entries that could not be read are tried again; the longer, the more often they could not. */
const REREAD_MS = 10_000
const MAX_REREAD_MS = 10 * 60_000

export function startInformer<En extends Entry, Ev extends StoreEvent>(
  source: InformerSource<En, Ev>,
  prefix: string,
  handler: InformerHandler<En, Ev>,
  log: Logger = NO_LOGGER,
): Informer {
  /** Undefined while everything is read. */
  let watch: Watch | undefined
  let stopped = false
  let unreadable = new Set<string>()
  let rereading: NodeJS.Timeout | undefined
  let rereadMs = REREAD_MS

  function tryRead(key: string, failed: Set<string>, read: () => void): void {
    try {
      read()
      failed.delete(key)
    } catch (error) {
      if (!unreadable.has(key)) log.error('an object in the store cannot be read', { key, reason: String(error) })
      failed.add(key)
    }
  }

  async function start(): Promise<void> {
    watch = undefined
    handler.begin?.()
    const failed = new Set<string>()
    let page = await source.range(prefix, { limit: FIRST_LIMIT })
    const { revision } = page
    for (;;) {
      if (stopped) return
      for (const entry of page.entries) tryRead(entry.key, failed, () => handler.entry(entry))
      const last = page.entries.at(-1)
      if (!last || page.remaining === 0) break
      const limit = limitAfter(page.entries, PAGE_LIMITS)
      // There may be many pages; requests are served in between.
      await nextTurn()
      page = await source.range(prefix, { limit, startAfter: last.key, at: { exactly: revision } })
    }
    if (stopped) return
    unreadable = failed
    handler.complete?.()
    watch = source.watch(prefix, revision, {
      event(event) {
        tryRead(event.key, unreadable, () => handler.event(event))
        rereadLater()
      },
      end: startLater,
    })
    if (unreadable.size === 0) rereadMs = REREAD_MS
    rereadLater()
  }

  function rereadLater(): void {
    if (unreadable.size === 0 || rereading) return
    rereading = setTimeout(reread, rereadMs).unref()
    rereadMs = Math.min(2 * rereadMs, MAX_REREAD_MS)
  }

  function reread(): void {
    rereading = undefined
    if (stopped || unreadable.size === 0 || !watch) return
    watch.close()
    restart()
  }

  function startLater(): void {
    if (!stopped) setTimeout(restart, RETRY_MS).unref()
  }

  function restart(): void {
    if (!stopped) start().catch(retry)
  }

  function retry(error: unknown): void {
    // After a stop the store may be closed already.
    if (stopped) return
    log.warn('an informer cannot read the store', { prefix, error })
    startLater()
  }

  const started = start()
  started.catch(retry)
  return {
    started,
    get unreadable() {
      return unreadable
    },
    stop() {
      stopped = true
      clearTimeout(rereading)
      watch?.close()
    },
  }
}

// ---- all objects of a kind

/** The objects of one kind, kept in memory in a form of the caller's choice. */
export interface KindInformer<T> {
  get(namespace: string, name: string): T | undefined
  /** Of one namespace, or of a kind without namespaces. */
  all(namespace: string): Iterable<T>
  /** False while there are objects that cannot be read. */
  readonly isComplete: boolean
  stop(): void
}

/** Resolves when all objects are read. `changed` is called after each change, and once all are read. */
export async function startKindInformer<T>(
  { objectStore }: Pick<ObjectStores, 'objectStore'>,
  kind: Kind,
  decode: (object: ApiObject) => T,
  changed: () => void = () => {},
  log?: Logger,
): Promise<KindInformer<T>> {
  type Objects = Map<string, Map<string, T>>
  let objects: Objects = new Map()
  let fresh: Objects = objects

  function put(to: Objects, { key, revision }: { key: string; revision: Revision }, value: Buffer | undefined): void {
    const { namespace, name } = objectKeyOf(kind, key)
    let inNamespace = to.get(namespace)
    if (!inNamespace) to.set(namespace, (inNamespace = new Map()))
    if (value) inNamespace.set(name, decode(decodeStored({ key, value, revision })))
    else inNamespace.delete(name)
  }

  const informer = startInformer(
    objectStore(kind).cache,
    kind.keyPrefix,
    {
      begin: () => void (fresh = new Map()),
      entry: entry => put(fresh, entry, entry.value),
      // Until all objects are read again, those of before are used.
      complete() {
        objects = fresh
        changed()
      },
      event(event) {
        try {
          put(objects, event, event.value)
        } finally {
          changed()
        }
      },
    },
    log,
  )
  await whenStarted(informer)
  return {
    get: (namespace, name) => objects.get(namespace)?.get(name),
    all: namespace => objects.get(namespace)?.values() ?? [],
    get isComplete() {
      return informer.unreadable.size === 0
    },
    stop: () => informer.stop(),
  }
}

/** Resolves when the informer has read everything; stops it if that fails. */
export async function whenStarted(informer: Informer): Promise<void> {
  try {
    await informer.started
  } catch (error) {
    informer.stop()
    throw error
  }
}
