import { rm } from 'node:fs/promises'
import { describeStore } from '../store.suite.js'
import { openLmdbStore } from './lmdb-store.js'
import { temporaryDirectory } from './temporary-directory.suite.js'

describeStore('the LMDB store', async () => {
  const directory = await temporaryDirectory()
  return { store: await openLmdbStore(directory), close: () => rm(directory, { recursive: true }) }
})
