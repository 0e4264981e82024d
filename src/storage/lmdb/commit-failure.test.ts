import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { failureOf } from './commit-failure.js'
import type { StoreState, Tables } from './layout.js'

const before: StoreState = { revision: 7, compacted: 3, id: 1, epoch: 2 }

/** The parts of the tables that are read after a failure: the state on disk, and whether LMDB still works. */
function tablesWith(onDisk: StoreState | undefined, begin: () => void = () => {}): Tables {
  const root = { path: '/data/store.mdb', resetReadTxn() {}, transactionSync: begin }
  return { root, meta: { get: () => onDisk } } as unknown as Tables
}

/** An error as lmdb reports it. */
function commitFailure(code: number): Error {
  const cause = Object.assign(new Error('the real reason'), { code })
  return Object.assign(new Error('Commit failed (see commitError for details)'), { commitError: Promise.reject(cause) })
}

test.each(['ENOSPC', 'EFBIG', 'EDQUOT'] as const)('%s means that there is no space', async name => {
  const { error, fatal } = await failureOf(commitFailure(constants.errno[name]), tablesWith(before), before)
  expect(error).toMatchObject({ code: 'no-space', cause: { message: 'the real reason' } })
  expect(fatal).toBeUndefined()
})

test('any other cause means that nothing was written, if the state on disk is unchanged', async () => {
  const { error, fatal } = await failureOf(commitFailure(constants.errno.ENOMEM), tablesWith(before), before)
  expect(error).toMatchObject({
    code: 'unavailable',
    message: 'nothing was written to /data/store.mdb: the real reason',
  })
  expect(fatal).toBeUndefined()
})

test('a commitError promise that never rejects does not block', async () => {
  const thrown = Object.assign(new Error('Commit failed'), { commitError: new Promise(() => {}) })
  expect((await failureOf(thrown, tablesWith(before), before)).error).toMatchObject({ code: 'unavailable' })
})

test('the outcome is unknown when the disk has more than was acknowledged', async () => {
  const { error, fatal } = await failureOf(
    commitFailure(constants.errno.EIO),
    tablesWith({ ...before, revision: 8 }),
    before,
  )
  expect(error.code).toBe('outcome-unknown')
  expect(fatal?.code).toBe('unavailable')
})

test('the outcome is unknown when LMDB refuses further writes', async () => {
  const panicked = tablesWith(before, () => {
    throw new Error('MDB_PANIC')
  })
  const { error, fatal } = await failureOf(commitFailure(constants.errno.ENOSPC), panicked, before)
  expect(error.code).toBe('outcome-unknown')
  expect(fatal?.code).toBe('unavailable')
})

test('a disk on which nothing can be tried is not taken for a full one', async () => {
  const tables = tablesWith(before)
  // The path of a file where a folder should be: every call of it fails, as on a disk that is gone.
  Object.assign(tables.root, { path: join(fileURLToPath(import.meta.url), 'store.mdb') })
  const { error } = await failureOf(commitFailure(constants.errno.EIO), tables, before)
  expect(error.code).toBe('unavailable')
})
