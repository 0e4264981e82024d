// Where a test server keeps its objects: in memory, or in a folder, in which a later server finds them. Of the objects in a
// folder there is a copy in memory, so that snapshots, forks and reports cost as little as in a server without one.
import type { Awaitable } from '../base/awaitable.js'
import { UsageError } from '../base/usage-error.js'
import { createMemoryStore } from '../storage/memory-store.js'
import type { StorageOptions } from '../storage/open-store.js'
import type { Revision, Store, WriteResult } from '../storage/store.js'
import type { Snapshot } from './snapshots.js'

/** A store whose content is known at once. */
export interface TestStore extends Store {
  snapshot(): Snapshot
}

export interface TestStorage {
  /** Opens the first store of a server. */
  open(from: Snapshot | undefined): Awaitable<TestStore>
  /**
   * Opens a store with the objects of a snapshot, at a later revision than any that clients have seen, so that none of
   * them resumes a watch. `close` closes the one before.
   */
  reopen(to: Snapshot, before: TestStore, close: () => Promise<void>): Awaitable<TestStore>
  /** With these a server takes an open store. */
  optionsOf(store: TestStore): StorageOptions
}

export const testStorageOf = (options: StorageOptions): TestStorage =>
  options.kind === 'lmdb' ? inFolder(options.directory) : IN_MEMORY

const IN_MEMORY: TestStorage = {
  open: from => createMemoryStore(from),
  reopen: (to, before) => createMemoryStore(to, before.snapshot().revision + 1),
  optionsOf: store => ({ kind: 'memory', store }),
}

function inFolder(directory: string): TestStorage {
  return {
    async open(from) {
      const store = await openCopied(directory)
      if (!from) return store
      if (store.snapshot().entries.size > 0) {
        await store.close()
        throw new UsageError(
          `snapshot: the folder ${directory} has objects already: leave out snapshot, or name an empty folder`,
        )
      }
      return restore(store, from)
    },
    async reopen(to, _before, close) {
      // Controllers of the server before must not write into what is restored.
      await close()
      return restore(await openCopied(directory), to)
    },
    optionsOf: store => ({ kind: 'lmdb', directory, store }),
  }
}

/** Opens the store of a folder, and copies its entries. */
async function openCopied(directory: string): Promise<TestStore> {
  const { openLmdbStore } = await import('../storage/lmdb-store.js')
  // Not synced: what is written survives the process, which is all that a test ends.
  const store = await openLmdbStore(directory, { noSync: true })
  const { revision: begin, entries: found } = await store.range('/')
  let revision = begin
  const { entries } = createMemoryStore().snapshot()
  for (const entry of found) entries.set(entry.key, entry)
  // A store delivers a write to its watches before it acknowledges it.
  store.watch('/', begin, {
    event({ key, value, revision: at }) {
      revision = at
      if (value) entries.set(key, { key, value, revision: at })
      else entries.delete(key)
    },
    end() {},
  })
  return { ...store, snapshot: () => ({ revision, entries: entries.fork() }) }
}

/** Written by every restore, so that its revision is a new one also where no object differs. */
const MARK = '/binnacle/testing/restored'
/** Sorts after every key. */
const END = '\u{10ffff}'

async function restore(store: TestStore, to: Snapshot): Promise<TestStore> {
  try {
    await writeDifferences(store, to)
    const marked = revisionOf(await store.create(MARK, Buffer.from('{}')))
    const revision = revisionOf(await store.delete(MARK, marked))
    await store.compact(revision)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

async function writeDifferences(store: TestStore, { entries: wanted }: Snapshot): Promise<void> {
  const { entries } = store.snapshot()
  const writes: Promise<WriteResult>[] = []
  for (const key of entries.keys('', END)) {
    if (!wanted.get(key)) writes.push(store.delete(key, entries.get(key)!.revision))
  }
  for (const key of wanted.keys('', END)) {
    const [found, { value }] = [entries.get(key), wanted.get(key)!]
    if (!found) writes.push(store.create(key, value))
    else if (!found.value.equals(value)) writes.push(store.update(key, value, found.revision))
  }
  for (const written of await Promise.all(writes)) revisionOf(written)
}

function revisionOf(written: WriteResult): Revision {
  if (!written.done) throw new Error(`${written.current?.key} was written while the objects were restored`)
  return written.revision
}
