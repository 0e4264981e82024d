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

const FIRST = { id: 5, epoch: 1 }
const SECOND = { id: 5, epoch: 2 }

const event = (revision: number, key = `/things/${revision}`, text = `value ${revision}`): StoreEvent => ({
  revision,
  key,
  value: Buffer.from(text),
  previous: undefined,
})

const writes = () => readJournal(file, true).flatMap(record => record.writes)
const revisions = (): number[] => writes().map(({ revision }) => revision)

test('has what was appended, also on a thread', async () => {
  expect(readJournal(file, true)).toEqual([])
  const journal = createJournalFile(file)
  const created = event(7, '/things/é')
  journal.appendAtOnce([created], FIRST)
  await journal.append(
    [
      { ...event(8, '/things/é', ''), previous: { key: '/things/é', value: created.value!, revision: 7 } },
      {
        revision: 9,
        key: '/things/x',
        value: undefined,
        previous: { key: '/things/x', value: Buffer.alloc(1), revision: 2 },
      },
    ],
    FIRST,
  )
  expect(writes()).toEqual([
    { revision: 7, key: '/things/é', value: Buffer.from('value 7'), replaced: 0 },
    { revision: 8, key: '/things/é', value: Buffer.alloc(0), replaced: 7 },
    { revision: 9, key: '/things/x', value: undefined, replaced: 2 },
  ])
  expect(readJournal(file, false)).toMatchObject([
    { ...FIRST, start: 0 },
    { ...FIRST, end: statSync(file).size },
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  journal.close(false)
  expect(revisions()).toEqual([7, 8, 9])
})

test('goes on after the records that it has', () => {
  createJournalFile(file).appendAtOnce([event(1)], FIRST)
  createJournalFile(file, readJournal(file, true)[0]!.end).appendAtOnce([event(2)], FIRST)
  expect(revisions()).toEqual([1, 2])
})

test('a record that was written in part is not there, wherever it ends', () => {
  const journal = createJournalFile(file)
  journal.appendAtOnce([event(1)], FIRST)
  const whole = statSync(file).size
  journal.appendAtOnce([event(2), event(3)], FIRST)
  journal.close(false)
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
})

test('a record with any bit changed is not there, and those after it are', () => {
  const journal = createJournalFile(file)
  journal.appendAtOnce([event(1)], FIRST)
  const { size } = statSync(file)
  journal.appendAtOnce([event(2)], FIRST)
  journal.close(false)
  const bytes = readFileSync(file)
  for (let bit = 0; bit < 8 * size; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >>> 3]! ^= 1 << (bit & 7)
    writeFileSync(file, changed)
    expect(revisions()).toEqual([2])
  }
})

test('what is left from before it was emptied has an earlier epoch', () => {
  const journal = createJournalFile(file)
  for (const revision of [1, 2, 3]) journal.appendAtOnce([event(revision)], FIRST)
  journal.rewind()
  journal.appendAtOnce([event(4)], SECOND)
  expect(readJournal(file, true).map(({ epoch, writes: [first] }) => [epoch, first!.revision])).toEqual([
    [2, 4],
    [1, 2],
    [1, 3],
  ])
  journal.rewind()
  journal.close(true)
  expect(statSync(file).size).toBe(0)
})
