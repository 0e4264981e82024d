import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLogFile } from './log-file.js'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a file that would grow over its limit is renamed with the time; the oldest are removed', () => {
  const path = join(folder, 'logs', 'audit.log')
  let now = Date.parse('2024-01-02T03:04:05.000Z')
  const options = { path, maxBytes: 10, maxBackups: 2, maxAgeMs: 0 }
  const log = openLogFile(options, () => (now += 1000))
  for (const line of ['one\n', 'two\n', 'three\n', 'four\n', 'a line that is too long\n', 'six\n']) log.write(line)
  log.close()
  expect(readdirSync(join(folder, 'logs')).toSorted()).toEqual([
    'audit-2024-01-02T03-04-08.000.log',
    'audit-2024-01-02T03-04-09.000.log',
    'audit.log',
  ])
  expect(readFileSync(path, 'utf8')).toBe('six\n')

  const again = openLogFile(options, () => now)
  again.write('x\n')
  again.close()
  expect(readFileSync(path, 'utf8')).toBe('six\nx\n')
})
