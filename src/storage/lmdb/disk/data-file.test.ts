import { statSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.suite.js'
import { checkDataFile } from './data-file.js'

let directory: string
let file: string

beforeEach(async () => {
  directory = await temporaryDirectory()
  file = join(directory, 'store.mdb')
})

afterEach(() => rm(directory, { recursive: true }))

/** Writes entries, the last ones largest, and removes some again so that the file has free pages. */
async function makeFile(entries: number, removed: number): Promise<void> {
  const root = open({ path: file, noSubdir: true, overlappingSync: false })
  const table = root.openDB<Buffer, number>({ name: 'table', encoding: 'binary' })
  await root.batch(() => {
    for (let i = 0; i < entries; i++) void table.put(i, Buffer.alloc(i * 20))
  })
  await root.batch(() => {
    for (let i = entries - removed; i < entries; i++) void table.remove(i)
  })
  // Each transaction moves a few of the remaining pages into free ones.
  for (let i = 0; i < 5; i++) await table.put(0, Buffer.alloc(i))
  await root.close()
}

test('a complete file has no problem', async () => {
  await makeFile(1000, 500)
  expect(checkDataFile(file)).toBeUndefined()
})

test('a file without some of its used pages was cut short', async () => {
  await makeFile(1000, 0)
  const { size } = statSync(file)
  for (const part of [0.99, 0.5, 0.01]) {
    truncateSync(file, Math.max(8192, Math.floor(size * part)))
    expect(checkDataFile(file)).toMatch(/^was cut short: it has \d+ bytes and should have \d+$/)
  }
})

test('a file without some of its free pages has no problem', async () => {
  await makeFile(1000, 990)
  const { size } = statSync(file)
  let whole = size
  while (checkDataFile(file) === undefined) truncateSync(file, (whole -= 4096))
  expect(whole).toBeLessThan(size - 4096)
  expect(whole).toBeGreaterThan(8192)
})

test('a missing file is reported', () => {
  expect(checkDataFile(file)).toBe('is missing')
})
