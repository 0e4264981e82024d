import { statSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkDataFile } from './data-file.js'
import { temporaryFolder } from './temporary-folder.suite.js'

let folder: string
let file: string

beforeEach(async () => {
  folder = await temporaryFolder()
  file = join(folder, 'store.mdb')
})

afterEach(() => rm(folder, { recursive: true }))

/** Puts entries into a table, the last ones largest, and removes some again so that the file has free pages. */
async function makeFile(entries: number, removed: number): Promise<void> {
  const root = open({ path: file, noSubdir: true, overlappingSync: false })
  const table = root.openDB<Buffer, number>({ name: 'table', encoding: 'binary' })
  await root.batch(() => {
    for (let i = 0; i < entries; i++) void table.put(i, Buffer.alloc(i * 20))
  })
  await root.batch(() => {
    for (let i = entries - removed; i < entries; i++) void table.remove(i)
  })
  // What is left moves into free pages, a little with each transaction.
  for (let i = 0; i < 5; i++) await table.put(0, Buffer.alloc(i))
  await root.close()
}

test('a whole file is fine', async () => {
  await makeFile(1000, 500)
  expect(checkDataFile(file)).toBeUndefined()
})

test('a file that lacks pages which are in use was cut short', async () => {
  await makeFile(1000, 0)
  const { size } = statSync(file)
  for (const part of [0.99, 0.5, 0.01]) {
    truncateSync(file, Math.max(8192, Math.floor(size * part)))
    expect(checkDataFile(file)).toMatch(/^was cut short: it has \d+ bytes and should have \d+$/)
  }
})

test('a file that lacks free pages only is fine', async () => {
  await makeFile(1000, 990)
  const { size } = statSync(file)
  let whole = size
  while (checkDataFile(file) === undefined) truncateSync(file, (whole -= 4096))
  expect(whole).toBeLessThan(size - 4096)
  expect(whole).toBeGreaterThan(8192)
})

test('there may be no file', () => {
  expect(checkDataFile(file)).toBe('is missing')
})
