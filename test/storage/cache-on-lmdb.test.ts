// The behavioural suite on the watch cache over the embedded store.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWatchCache } from '../../src/storage/cache/watch-cache.js'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import { describeStore } from '../../src/storage/store.suite.js'

describeStore('the watch cache on the LMDB store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'binnacle-lmdb-'))
  const store = await openLmdbStore(directory)
  const close = async () => {
    await store.close()
    await rm(directory, { recursive: true })
  }
  return { store: createWatchCache(store, '/'), close }
})
