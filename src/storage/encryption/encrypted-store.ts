// A store whose values are encrypted. Above it everything is in the clear; below it values are as kube-apiserver has them in
// etcd, whichever store it is. Keys are not encrypted.
import { type Awaitable, allOf, andThen, orElse } from '../../base/awaitable.js'
import { StorageError } from '../storage-error.js'
import type { Entry, Store, StoreEvent, Watch, WatchSink, WriteResult } from '../store.js'
import { isEncrypted, isUntransformable, untransformable } from '../untransformable.js'
import type { TransformContext, Transformer } from './transformer.js'

/** How the value of a key is encrypted. */
export interface KeyTransformer {
  readonly transformer: Transformer
  readonly context: TransformContext
  /** False for keys of the server itself, such as one that signs tokens: without them it cannot work. */
  readonly isObject: boolean
}

export interface EncryptedStore extends Store {
  isUnreadable(key: string): boolean
  /** Finds the values that cannot be decrypted any more. To be called when keys have gone. */
  findUnreadable(): Promise<void>
}

const PAGE_BYTES = 8 * 2 ** 20

export function createEncryptedStore(store: Store, transformerOf: (key: string) => KeyTransformer): EncryptedStore {
  const unreadable = new Set<string>()

  function decrypt(key: string, value: Buffer): Awaitable<Buffer> {
    const { transformer, context, isObject } = transformerOf(key)
    return orElse(
      () => andThen(transformer.fromStorage(value, context), ({ data }) => data),
      error => {
        const reason = (error as Error).message
        // Written before there was encryption.
        if (!isObject && !isEncrypted(value)) return value
        if (!isObject) throw new StorageError('corrupt', `the value of ${key} cannot be decrypted: ${reason}`)
        return untransformable(context.authenticated.toString(), reason)
      },
    )
  }

  async function encrypt(key: string, value: Uint8Array): Promise<Buffer> {
    const { transformer, context } = transformerOf(key)
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    try {
      return await transformer.toStorage(bytes, context)
    } catch (error) {
      throw new StorageError('not-encrypted', (error as Error).message, undefined, error)
    }
  }

  const entryOf = (entry: Entry): Awaitable<Entry> =>
    andThen(decrypt(entry.key, entry.value), value => ({ key: entry.key, value, revision: entry.revision }))

  async function resultOf(result: WriteResult): Promise<WriteResult> {
    return result.done || !result.current ? result : { done: false, current: await entryOf(result.current) }
  }

  const eventOf = (event: StoreEvent): Awaitable<StoreEvent> =>
    andThen(event.value && decrypt(event.key, event.value), value =>
      andThen(event.previous && entryOf(event.previous), previous => ({
        revision: event.revision,
        key: event.key,
        value,
        previous,
      })),
    )

  // Reads may have to ask a KMS plugin, so that none of them is synchronous.
  const { getNow: _, ...rest } = store
  return {
    ...rest,
    async get(key, at) {
      const stored = await store.get(key, at)
      const entry = stored && (await entryOf(stored))
      if (!entry || !isUntransformable(entry.value)) unreadable.delete(key)
      return entry
    },
    async range(prefix, options) {
      const page = await store.range(prefix, options)
      return { ...page, entries: await allOf(page.entries.map(entryOf)) }
    },
    create: async (key, value, guard) => resultOf(await store.create(key, await encrypt(key, value), guard)),
    update: async (key, value, expected, guard) =>
      resultOf(await store.update(key, await encrypt(key, value), expected, guard)),
    delete: async (key, expected) => resultOf(await store.delete(key, expected)),
    ...(store.putWithTtl && {
      putWithTtl: async (key: string, value: Uint8Array, seconds: number) =>
        store.putWithTtl!(key, await encrypt(key, value), seconds),
    }),
    watch: (target, after, sink) => openWatch(inner => store.watch(target, after, inner), eventOf, sink),
    isUnreadable: key => unreadable.has(key),
    async findUnreadable() {
      let startAfter: string | undefined
      do {
        const { entries, remaining } = await store.range('/', { maxBytes: PAGE_BYTES, startAfter, isUncounted: true })
        for (const entry of entries.filter(({ key }) => transformerOf(key).isObject)) {
          if (isUntransformable((await entryOf(entry)).value)) unreadable.add(entry.key)
          else unreadable.delete(entry.key)
        }
        startAfter = remaining > 0 ? entries.at(-1)?.key : undefined
      } while (startAfter !== undefined)
    },
    async isStale(key) {
      const entry = await store.get(key)
      if (!entry) return false
      const { transformer, context } = transformerOf(key)
      return andThen(
        orElse(
          () => transformer.fromStorage(entry.value, context),
          () => ({ data: entry.value, isStale: !isEncrypted(entry.value) }),
        ),
        ({ isStale }) => isStale,
      )
    },
  }
}

/** Events whose decryption takes time hold up those after them: the watch below is paused meanwhile. */
function openWatch(
  open: (sink: WatchSink) => Watch,
  eventOf: (event: StoreEvent) => Awaitable<StoreEvent>,
  sink: WatchSink,
): Watch {
  let isPending = false
  let missedProgress = false
  let ended: StorageError | undefined
  let isOver = false

  function end(error: StorageError): void {
    if (isOver) return
    isOver = true
    below.close()
    sink.end(error)
  }

  function failed(error: unknown): void {
    end(error instanceof StorageError ? error : new StorageError('sink-failed', String(error), undefined, error))
  }

  function arrived(event: StoreEvent): void {
    isPending = false
    if (isOver) return
    const goesOn = sink.event(event) !== false
    if (ended) return end(ended)
    if (missedProgress) {
      missedProgress = false
      below.requestProgress()
    }
    if (goesOn) below.resume()
  }

  const below = open({
    ...(sink.knowsPrevious && { knowsPrevious: true }),
    event(event) {
      const decrypted = eventOf(event)
      if (!(decrypted instanceof Promise)) return sink.event(decrypted)
      isPending = true
      decrypted.then(arrived).catch(failed)
      return false
    },
    progress(revision) {
      if (isPending) missedProgress = true
      else sink.progress?.(revision)
    },
    end(error) {
      if (isPending) ended = error
      else end(error)
    },
  })

  return {
    resume() {
      if (!isPending) below.resume()
    },
    requestProgress: reached => below.requestProgress(reached),
    close() {
      isOver = true
      below.close()
    },
  }
}
