import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCompaction } from './compaction.js'
import { openTables, putEvents, type StoreState, type Tables } from './layout.js'
import { temporaryDirectory } from './temporary-directory.suite.js'

let directory: string
let tables: Tables
beforeEach(async () => {
  directory = await temporaryDirectory()
  tables = openTables(join(directory, 'store.mdb'))
})
afterEach(async () => {
  await tables.root.close()
  rmSync(directory, { recursive: true })
})

test('history is removed as fast as groups of 1,024 writes add to it', async () => {
  const GROUP = 1024
  let state: StoreState = { revision: 0, compacted: 0, id: 1, epoch: 0 }
  const compaction = createCompaction({ tables, state: () => state, wake() {}, forgotten() {} })
  const inHistory = (): number => (tables.log.getStats() as { entryCount: number }).entryCount
  const sizes: number[] = []
  for (let group = 0; group < 12; group++) {
    const events = Array.from({ length: GROUP }, (_, i) => {
      const [revision, key] = [state.revision + 1 + i, `/things/${i}`]
      return { revision, key, value: Buffer.from('x'), previous: undefined }
    })
    const bytes = GROUP
    const step = compaction.nextStep({ entries: GROUP, bytes })
    const next = { ...state, revision: state.revision + GROUP, compacted: step?.compacted ?? state.compacted }
    await tables.root.batch(() => {
      putEvents(tables, events, next)
      step?.apply?.()
    })
    state = next
    step?.committed()
    // All but the latest group may go.
    if (group % 2 === 1) void compaction.request(state.revision - GROUP)
    sizes.push(inHistory())
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(6 * GROUP)
})
