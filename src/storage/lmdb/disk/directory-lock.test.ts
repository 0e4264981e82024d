import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockHolder, takeLock } from './directory-lock.js'

let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-lock-'))
  file = join(directory, 'lock')
})

afterEach(() => rmSync(directory, { recursive: true }))

test('only one holder has the lock at a time', () => {
  const first = takeLock(file)!
  first.sign()
  expect(lockHolder(file)).toBe(process.pid)
  expect(takeLock(file)).toBeUndefined()
  expect(lockHolder(file)).toBe(process.pid)
  first.release()
  const second = takeLock(file)!
  expect(second).toBeDefined()
  second.release()
})

test('a process whose id is in the file does not keep the lock', () => {
  writeFileSync(file, `${process.ppid}\n`)
  const lock = takeLock(file)
  expect(lock).toBeDefined()
  lock!.release()
})

test('a lock that was not signed leaves the file as it was', () => {
  writeFileSync(file, 'whatever')
  takeLock(file)!.release()
  expect(readFileSync(file, 'utf8')).toBe('whatever')
  expect(lockHolder(file)).toBeUndefined()
})

describe('without the flock command', () => {
  const path = process.env['PATH']

  beforeEach(() => {
    process.env['PATH'] = directory
  })

  afterEach(() => {
    process.env['PATH'] = path
  })

  test('the lock is not taken by a process id, which is another process in another container', () => {
    expect(() => takeLock(file)).toThrow('the flock command (of util-linux or BusyBox) is missing')
  })
})
