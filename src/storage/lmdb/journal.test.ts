import { copyFileSync, cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store } from '../store.js'
import { checkIntegrity } from './integrity.js'
import { openLmdbStore } from './lmdb-store.js'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'binnacle-journal-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const path = (name: string): string => join(base, name)

async function keysIn(store: Store): Promise<string[]> {
  return (await store.range('/')).entries.map(({ key, revision }) => `${key}@${revision}`)
}

/** As the disk is when the machine stops now. */
function crash(): string {
  cpSync(path('data'), path('crashed'), { recursive: true, filter: name => !name.endsWith('/lock') })
  return path('crashed')
}

test('writes that only the journal has are there after a crash, with their history', async () => {
  const store = await openLmdbStore(path('data'))
  await store.create('/a', Buffer.from('1'))
  await store.create('/b', Buffer.from('2'))
  await store.update('/a', Buffer.from('3'), 1)
  await store.delete('/b', 2)
  const crashed = await openLmdbStore(crash())
  expect(await crashed.revision()).toBe(4)
  expect(await keysIn(crashed)).toEqual(['/a@3'])
  expect((await crashed.get('/b', { exactly: 3 }))?.value.toString()).toBe('2')
  expect((await crashed.get('/a', { exactly: 2 }))?.value.toString()).toBe('1')
  await crashed.close()
  expect(await checkIntegrity(path('crashed'))).toEqual([])
  await store.close()
})

test('the journal is empty after the store was closed', async () => {
  const store = await openLmdbStore(path('data'))
  await Promise.all(Array.from({ length: 300 }, (_, i) => store.create(`/things/${i}`, Buffer.alloc(10))))
  await store.create('/last', Buffer.alloc(10))
  await store.close()
  expect(statSync(path('data/journal')).size).toBe(0)
  rmSync(path('data/journal'))
  const again = await openLmdbStore(path('data'))
  expect(await keysIn(again)).toHaveLength(301)
  await again.close()
})

test('a data file that is older than its journal is refused', async () => {
  const store = await openLmdbStore(path('data'))
  await store.close()
  copyFileSync(path('data/store.mdb'), path('older.mdb'))
  const later = await openLmdbStore(path('data'))
  for (let i = 0; i < 3; i++) await later.create(`/first/${i}`, Buffer.alloc(10))
  // Compaction puts what is in the journal into the tables, and perhaps the first writes after it.
  await later.compact(1)
  for (let i = 0; i < 10; i++) await later.create(`/second/${i}`, Buffer.alloc(10))
  const crashed = crash()
  copyFileSync(path('older.mdb'), join(crashed, 'store.mdb'))
  await expect(openLmdbStore(crashed)).rejects.toThrow(
    /it ends with revision 0, and the file journal goes on with \d+; if the data file comes from a backup, remove the journal/,
  )
  await later.close()
})
