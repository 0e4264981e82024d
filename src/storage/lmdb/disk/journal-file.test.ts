import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StoreEvent } from '../../store.js'
import { createJournalFile, readJournal } from './journal-file.js'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-journal-'))
  file = join(directory, 'journal')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const event = (revision: number, key = `/things/${revision}`, text = `value ${revision}`): StoreEvent => ({
  revision,
  key,
  value: Buffer.from(text),
  previous: undefined,
})

const revisions = (): number[] => readJournal(file).map(({ revision }) => revision)

test('has what was appended, also on a thread', async () => {
  expect(readJournal(file)).toEqual([])
  const journal = createJournalFile(file)
  const created = event(7, '/things/é')
  journal.appendAtOnce([created])
  await journal.append([
    { ...event(8, '/things/é', ''), previous: { key: '/things/é', value: created.value!, revision: 7 } },
    {
      revision: 9,
      key: '/things/x',
      value: undefined,
      previous: { key: '/things/x', value: Buffer.alloc(1), revision: 2 },
    },
  ])
  expect(readJournal(file)).toEqual([
    { revision: 7, key: '/things/é', value: Buffer.from('value 7'), replaced: 0 },
    { revision: 8, key: '/things/é', value: Buffer.alloc(0), replaced: 7 },
    { revision: 9, key: '/things/x', value: undefined, replaced: 2 },
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  journal.close()
  expect(revisions()).toEqual([7, 8, 9])
})

test('a record that was written in part is not there, wherever it ends', () => {
  const journal = createJournalFile(file)
  journal.appendAtOnce([event(1)])
  const whole = statSync(file).size
  journal.appendAtOnce([event(2), event(3)])
  journal.close()
  const { size } = statSync(file)
  const saved = join(directory, 'saved')
  copyFileSync(file, saved)
  for (let length = whole; length < size; length++) {
    copyFileSync(saved, file)
    truncateSync(file, length)
    expect(revisions()).toEqual([1])
    // The same with zeros where the rest was to be.
    truncateSync(file, size)
    const zeros = readFileSync(file)
      .subarray(length)
      .every(byte => byte === readFileSync(saved)[length])
    if (!zeros) expect(revisions()).toEqual([1])
  }
  const bytes = readFileSync(saved)
  bytes[whole + 40]! ^= 1
  writeFileSync(file, bytes)
  expect(revisions()).toEqual([1])
})

test('what is left from before it was emptied is not read', () => {
  const journal = createJournalFile(file)
  for (const revision of [1, 2, 3]) journal.appendAtOnce([event(revision)])
  journal.rewind()
  journal.appendAtOnce([event(4)])
  expect(revisions()).toEqual([4])
  journal.rewind()
  journal.close()
  expect(statSync(file).size).toBe(0)
})
