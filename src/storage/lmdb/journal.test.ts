import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store } from '../store.js'
import { checkIntegrity } from './integrity.js'
import { openLmdbStore } from './lmdb-store.js'
import { saveSnapshot } from './snapshot.js'

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

test('what a start finds in the journal is in the tables before anything else is acknowledged', async () => {
  const store = await openLmdbStore(path('data'))
  await store.create('/a', Buffer.from('1'))
  const again = await openLmdbStore(crash())
  await again.create('/b', Buffer.from('2'))
  // A sync that failed before the crash may have left the record in memory only.
  for (const file of ['FORMAT', 'store.mdb']) cpSync(path(`crashed/${file}`), path(`tables/${file}`))
  const tables = await openLmdbStore(path('tables'))
  expect(await keysIn(tables)).toEqual(['/a@1', '/b@2'])
  await Promise.all([store.close(), again.close(), tables.close()])
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
    'the data file contradicts itself: it is older than its journal; if it comes from a backup, remove the journal',
  )
  await later.close()
})

test('a journal of another data file is refused', async () => {
  const store = await openLmdbStore(path('data'))
  await store.create('/a', Buffer.from('1'))
  const crashed = crash()
  const other = await openLmdbStore(path('other'))
  await other.create('/b', Buffer.from('2'))
  await Promise.all([store.close(), other.close()])
  copyFileSync(path('other/store.mdb'), join(crashed, 'store.mdb'))
  await expect(openLmdbStore(crashed)).rejects.toThrow('the journal belongs to another data file')
})

test('a journal that is damaged before its end is refused, and not saved', async () => {
  const store = await openLmdbStore(path('data'))
  for (let i = 0; i < 3; i++) await store.create(`/things/${i}`, Buffer.alloc(100))
  const crashed = crash()
  await store.close()
  const bytes = readFileSync(join(crashed, 'journal'))
  bytes[bytes.length >>> 1]! ^= 1
  writeFileSync(join(crashed, 'journal'), bytes)
  await expect(openLmdbStore(crashed)).rejects.toThrow(/the journal is damaged between its bytes \d+ and \d+/)
  await expect(saveSnapshot(crashed, path('backup'))).rejects.toThrow('the journal is damaged')
  // The last record was perhaps not acknowledged.
  writeFileSync(join(crashed, 'journal'), bytes.subarray(0, bytes.length >>> 1))
  const opened = await openLmdbStore(crashed)
  expect(await keysIn(opened)).toEqual(['/things/0@1'])
  await opened.close()
})

test('a journal that is left from before is not read, whatever the file goes on with', async () => {
  const store = await openLmdbStore(path('data'))
  await store.create('/a', Buffer.from('1'))
  copyFileSync(path('data/journal'), path('journal'))
  await store.compact(1)
  await store.close()
  copyFileSync(path('journal'), path('data/journal'))
  const again = await openLmdbStore(path('data'))
  expect(await keysIn(again)).toEqual(['/a@1'])
  await again.create('/b', Buffer.from('2'))
  const crashed = await openLmdbStore(crash())
  expect(await keysIn(crashed)).toEqual(['/a@1', '/b@2'])
  await Promise.all([crashed.close(), again.close()])
})

test('a record that was cut off in the middle of what is left from before hinders neither a start nor a snapshot', async () => {
  const store = await openLmdbStore(path('data'))
  for (let i = 0; i < 3; i++) await store.create(`/things/${i}`, Buffer.alloc(100))
  await store.compact(1)
  const crashed = crash()
  await store.close()
  // A longer record was being written, of which only the first half is there.
  const bytes = readFileSync(join(crashed, 'journal'))
  writeFileSync(join(crashed, 'journal'), bytes.fill(0xff, 0, bytes.length >>> 1))
  expect(await saveSnapshot(crashed, path('backup'))).toEqual({ revision: 3, entries: 3 })
  const opened = await openLmdbStore(crashed)
  expect(await keysIn(opened)).toHaveLength(3)
  await opened.close()
})

test('a store whose files were removed refuses writes, and says why', async () => {
  const store = await openLmdbStore(path('data'))
  rmSync(path('data'), { recursive: true })
  await expect(store.create('/a', Buffer.from('1'))).rejects.toThrow(/nothing was written to .*store\.mdb: ENOENT/)
  await expect(store.check()).rejects.toThrow('ENOENT')
  await store.close()
})

test('a store that does not sync takes over what the journal has', async () => {
  const store = await openLmdbStore(path('data'))
  await store.create('/a', Buffer.from('1'))
  const unsynced = await openLmdbStore(crash(), { noSync: true })
  expect(await keysIn(unsynced)).toEqual(['/a@1'])
  await unsynced.create('/b', Buffer.from('2'))
  await unsynced.close()
  const crashed = await openLmdbStore(path('crashed'))
  expect(await keysIn(crashed)).toEqual(['/a@1', '/b@2'])
  await Promise.all([crashed.close(), store.close()])
})
