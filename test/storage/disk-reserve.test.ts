// A disk that other programs fill while nothing is written: what deletes need is taken before it is full.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDiskSpace, type DiskSpace } from '../../src/storage/lmdb/disk/disk-space.js'
import { openTables, putEvents, STATE, type Tables } from '../../src/storage/lmdb/layout.js'

const directory = mkdtempSync(join(tmpdir(), 'binnacle-reserve-'))
const disk = join(directory, 'disk')
const file = join(disk, 'store.mdb')
mkdirSync(disk)
/** A file system of its own needs the rights of an administrator. */
const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2g', 'tmpfs', disk]).status === 0
if (!canMount)
  console.warn('not tested: a reserve on a disk that others fill, because no file system can be mounted here')

let tables: Tables
let space: DiskSpace
beforeAll(async () => {
  if (!canMount) return
  tables = openTables(file)
  await tables.meta.put(STATE, { revision: 0, compacted: 0, id: 1, epoch: 0 })
  space = await createDiskSpace(file, tables)
})
afterAll(async () => {
  await space?.close()
  await tables?.root.close()
  if (canMount) spawnSync('umount', ['--lazy', disk])
  rmSync(directory, { recursive: true, force: true })
})

const leaveFree = (bytes: number): void => {
  const used = statSync(file).blocks * 512 + 128 * 1024
  const size = `remount,size=${used + bytes}`
  expect(spawnSync('mount', ['-o', size, disk]).status).toBe(0)
}
let revision = 0
async function write(urgent: boolean): Promise<void> {
  await space.reserve({ entries: 1, large: [VALUE.length], urgent })
  revision++
  const event = { revision, key: `/things/${revision}`, value: VALUE, previous: undefined }
  await tables.root.batch(() => putEvents(tables, [event], { revision, compacted: 0, id: 1, epoch: revision }))
}
const VALUE = Buffer.alloc(50_000)

test.skipIf(!canMount)('a delete has space on a disk that others have filled, a new entry has none', async () => {
  const before = statSync(file).blocks
  await space.keepReserve()
  expect(statSync(file).blocks).toBe(before)
  // Others have filled most of it, and then all.
  leaveFree(64 * 2 ** 20)
  await space.keepReserve()
  leaveFree(0)
  expect(statSync(file).blocks).toBeGreaterThan(before)
  let written = 0
  const fill = async (): Promise<void> => {
    for (; written < 1000; written++) await write(false)
  }
  await expect(fill()).rejects.toMatchObject({ code: 'no-space' })
  await write(true)
})
