import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createFolder } from './create-folder.js'

const root = mkdtempSync(join(tmpdir(), 'binnacle-create-folder-'))
afterAll(() => rmSync(root, { recursive: true }))

test('folders that are missing are created, and the first of them is named', () => {
  expect(createFolder(join(root, 'a', 'b', 'c'))).toBe(join(root, 'a'))
  expect(existsSync(join(root, 'a', 'b', 'c'))).toBe(true)
  expect(createFolder(join(root, 'a', 'b'))).toBeUndefined()
})

test('a file in the way is an error', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => createFolder(join(root, 'file'))).toThrow('not a directory')
  expect(() => createFolder(join(root, 'file', 'a'))).toThrow('not a directory')
})

test.skipIf(platform() !== 'linux')('a folder that the system does not allow is an error', () => {
  expect(() => createFolder('/proc/binnacle/a')).toThrow(/no such file or directory|permission denied/)
})
