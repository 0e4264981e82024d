import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchFiles } from './watch-files.js'

let folder: string
let stop: (() => void) | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watch-files-'))
})
afterEach(() => {
  stop?.()
  rmSync(folder, { recursive: true })
})

/** How often it was called. */
function follow(path: string, lookMs?: number): () => number {
  let calls = 0
  stop = watchFiles([path], () => void calls++, lookMs).stop
  return () => calls
}

test.each(['written', 'replaced', 'removed and written'])('a file that is %s is noticed', async how => {
  const path = join(folder, 'file')
  writeFileSync(path, 'a')
  const calls = follow(path)
  if (how === 'removed and written') rmSync(path)
  writeFileSync(how === 'replaced' ? `${path}.new` : path, 'b')
  if (how === 'replaced') renameSync(`${path}.new`, path)
  await expect.poll(calls).toBeGreaterThan(0)
})

test('the target of a link is followed, too', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'watch-files-'))
  const target = join(elsewhere, 'target')
  writeFileSync(target, 'a')
  symlinkSync(target, join(folder, 'link'))
  const calls = follow(join(folder, 'link'))
  writeFileSync(target, 'b')
  await expect.poll(calls).toBeGreaterThan(0)
  rmSync(elsewhere, { recursive: true })
})

test('files are looked at from time to time, where nothing is reported', async () => {
  const calls = follow(join(folder, 'missing', 'file'), 10)
  await expect.poll(calls).toBeGreaterThan(1)
})
