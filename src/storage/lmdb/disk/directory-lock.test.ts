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

test('only one holder has the lock at a time', oneHolderAtATime)

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

  test('only one holder has the lock at a time', oneHolderAtATime)

  test('a live process keeps the lock, an ended one does not', () => {
    writeFileSync(file, `${process.ppid}\n`)
    expect(takeLock(file)).toBeUndefined()
    writeFileSync(file, '4194305\n') // above the highest process id
    takeLock(file)!.release()
  })
})
