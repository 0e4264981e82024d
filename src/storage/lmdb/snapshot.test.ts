import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLmdbStore } from './lmdb-store.js'
import { restoreSnapshot, saveSnapshot } from './snapshot.js'
import { temporaryDirectory } from './temporary-directory.suite.js'

let directory: string
const path = (name: string): string => join(directory, name)

beforeAll(async () => {
  directory = await temporaryDirectory()
  const store = await openLmdbStore(path('store'))
  for (const name of ['a', 'b', 'c']) await store.create(`/registry/${name}`, Buffer.from(name))
  await store.close()
})
afterAll(() => rmSync(directory, { recursive: true }))

test('a snapshot goes through no link that another user has made, and leaves no other file', async () => {
  mkdirSync(path('backups'))
  symlinkSync(path('victim'), path(`backups/one.mdb.${process.pid}.new`))
  symlinkSync(path('victim'), path('backups/one.mdb'))
  expect(await saveSnapshot(path('store'), path('backups/one.mdb'))).toEqual({ revision: 3, entries: 3 })
  expect(existsSync(path('victim'))).toBe(false)
  expect(statSync(path('backups/one.mdb')).mode & 0o777).toBe(0o600)
  expect(readdirSync(path('backups'))).toHaveLength(2)
})

test('a damaged snapshot is refused, and the directory can still be restored to', async () => {
  const file = path('right.mdb')
  await saveSnapshot(path('store'), file)
  const bytes = readFileSync(file)
  const at = bytes.lastIndexOf('/registry/b')
  bytes.write('/registry/x', at)
  writeFileSync(path('wrong.mdb'), bytes)
  await expect(restoreSnapshot(path('wrong.mdb'), path('target'))).rejects.toThrow(
    /wrong\.mdb is not a snapshot: the data file contradicts itself/,
  )
  expect(await restoreSnapshot(file, path('target'))).toEqual({ revision: 3, entries: 3 })
})

test('a restore that was interrupted can be repeated', async () => {
  const file = path('whole.mdb')
  await saveSnapshot(path('store'), file)
  const bytes = readFileSync(file)
  for (const length of [4096, bytes.length >>> 1, bytes.length]) {
    const target = path(`interrupted-${length}`)
    mkdirSync(target)
    writeFileSync(join(target, 'store.mdb'), bytes.subarray(0, length))
    // A server does not take the part for the whole.
    if (length < bytes.length) await expect(openLmdbStore(target)).rejects.toThrow('restore it from a backup')
    expect(await restoreSnapshot(file, target)).toEqual({ revision: 3, entries: 3 })
    await expect(restoreSnapshot(file, target)).rejects.toThrow('has data already')
  }
})

test('the journal of one directory is refused by another that was restored from the same snapshot', async () => {
  const file = path('twins.mdb')
  await saveSnapshot(path('store'), file)
  for (const twin of ['one', 'other']) await restoreSnapshot(file, path(twin))
  const one = await openLmdbStore(path('one'))
  await one.create('/registry/d', Buffer.from('d'))
  copyFileSync(path('one/journal'), path('other/journal'))
  await one.close()
  await expect(openLmdbStore(path('other'))).rejects.toThrow('the journal belongs to another data file')
})
