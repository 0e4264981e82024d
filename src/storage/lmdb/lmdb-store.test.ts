import { rm } from 'node:fs/promises'
import { describeStore } from '../store.suite.js'
import { openLmdbStore } from './lmdb-store.js'
import { temporaryFolder } from './temporary-folder.suite.js'

describeStore('the LMDB store', async () => {
  const folder = await temporaryFolder()
  return { store: await openLmdbStore(folder), close: () => rm(folder, { recursive: true }) }
})
