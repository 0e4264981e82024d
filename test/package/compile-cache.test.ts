import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'binnacle-cache-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function run(more: Record<string, string> = {}): string {
  const { NODE_DISABLE_COMPILE_CACHE: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [executable, '--help'], {
    env: { ...env, XDG_CACHE_HOME: home, ...more },
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

/** All files below the folder. */
const kept = (): string[] =>
  readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map(name => join(home, name))
    .filter(path => statSync(path).isFile())

test('what was compiled is kept for the next start, in a folder of the user alone', () => {
  const help = run()
  expect(kept()).not.toEqual([])
  const [version] = readdirSync(join(home, 'binnacle'))
  expect(statSync(join(home, 'binnacle', version!)).mode & 0o077).toBe(0)
  // It is kept again while it grows, and a few times more; then a start writes nothing.
  for (let starts = 0; starts < 5; starts++) expect(run()).toBe(help)
  const times = kept().map(path => statSync(path).mtimeMs)
  expect(run()).toBe(help)
  expect(kept().map(path => statSync(path).mtimeMs)).toEqual(times)
})

// Node 22 and later keep what the first start has compiled.
test.runIf(process.version.startsWith('v20.'))('what a later start compiles is kept too', () => {
  const sizeOf = (file: string): number =>
    statSync(kept().find(path => path.includes(`/${file}-`)) ?? expect.fail(`${file} is not kept`)).size
  run()
  const before = sizeOf('command-line.cjs')
  spawnSync(process.execPath, [executable, 'status', '--unknown'], { env: { ...process.env, XDG_CACHE_HOME: home } })
  expect(sizeOf('command-line.cjs')).toBeGreaterThan(before)
})

test('a damaged file is not used', () => {
  const help = run()
  for (const path of kept()) writeFileSync(path, readFileSync(path).fill(7, 10))
  expect(run()).toBe(help)
})

test('without a folder that can be written, the program runs', () => {
  expect(run({ XDG_CACHE_HOME: executable })).toContain('binnacle')
  expect(run({ NODE_DISABLE_COMPILE_CACHE: '1' })).toContain('binnacle')
  expect(kept()).toEqual([])
})
