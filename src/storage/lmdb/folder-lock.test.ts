import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockHolder, takeLock } from './folder-lock.js'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-lock-'))
  file = join(folder, 'lock')
})

afterEach(() => rmSync(folder, { recursive: true }))

function oneHolderAtATime(): void {
  const first = takeLock(file)!
  first.sign()
  expect(lockHolder(file)).toBe(process.pid)
  expect(takeLock(file)).toBeUndefined()
  expect(lockHolder(file)).toBe(process.pid)
  first.release()
  const second = takeLock(file)!
  expect(second).toBeDefined()
  second.release()
}

test('one has the lock at a time', oneHolderAtATime)

test('a lock that was not signed leaves the file as it was', () => {
  writeFileSync(file, 'whatever')
  takeLock(file)!.release()
  expect(readFileSync(file, 'utf8')).toBe('whatever')
  expect(lockHolder(file)).toBeUndefined()
})

describe('where there is no flock', () => {
  const path = process.env['PATH']

  beforeEach(() => {
    process.env['PATH'] = folder
  })

  afterEach(() => {
    process.env['PATH'] = path
  })

  test('one has the lock at a time', oneHolderAtATime)

  test('a process that lives keeps the lock, one that is gone does not', () => {
    writeFileSync(file, `${process.ppid}\n`)
    expect(takeLock(file)).toBeUndefined()
    writeFileSync(file, '4194305\n') // above the highest process id
    takeLock(file)!.release()
  })
})
