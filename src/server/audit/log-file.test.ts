import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { NO_LOGGER } from '../../base/logger.js'
import { createMetrics } from '../../base/metrics.js'
import { logOn, openLogFile } from './log-file.js'
import { openAudit } from './open-audit.js'

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

test('a file that cannot be renamed is written again when it can, and nothing is written to another file', () => {
  const path = join(folder, 'stuck', 'audit.log')
  const log = openLogFile({ path, maxBytes: 10, maxBackups: 0, maxAgeMs: 0 }, () => 0)
  log.write('one\n')
  const inTheWay = join(folder, 'stuck', 'audit-1970-01-01T00-00-00.000.log')
  mkdirSync(inTheWay)
  expect(() => log.write('a second line\n')).toThrow(/EEXIST|EISDIR|ENOTEMPTY/)
  // It would get the number of a file that was closed.
  const other = openSync(join(folder, 'other'), 'w')
  expect(() => log.write('a second line\n')).toThrow(/EEXIST|EISDIR|ENOTEMPTY/)
  rmdirSync(inTheWay)
  log.write('a third line\n')
  closeSync(other)
  log.close()
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('')
  expect([readFileSync(inTheWay, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['one\n', 'a third line\n'])
})

test('a standard output that is not read keeps little, and later lines are written when it is read', () => {
  const waiting: (() => void)[] = []
  const output = new Writable({ write: (_chunk, _encoding, done) => void waiting.push(done) })
  const log = logOn(output)
  const line = `${'x'.repeat(2 ** 20)}\n`
  const writeAll = () => {
    for (let i = 0; i < 40; i++) log.write(line)
  }
  expect(writeAll).toThrow('the standard output is not read')
  expect(output.writableLength).toBeLessThan(20 * 2 ** 20)
  while (waiting.length > 0) waiting.shift()!()
  log.write(line)
})

test('a standard output whose reader is gone does not end the process', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  const log = logOn(output)
  log.write('one\n')
  await new Promise(resolve => output.once('close', resolve))
  expect(() => log.write('two\n')).toThrow('EPIPE')
})

test('a file that was removed is made again', () => {
  const path = join(folder, 'removed', 'audit.log')
  const log = openLogFile({ path, maxBytes: 10, maxBackups: 0, maxAgeMs: 0 }, () => 0)
  log.write('one\n')
  rmSync(path)
  log.write('a second line\n')
  log.close()
  expect(readFileSync(path, 'utf8')).toBe('a second line\n')
})

test.each([false, true])('a full disk loses events, which are counted; strict: %s', async isStrict => {
  const metrics = createMetrics()
  const parts = {
    metrics,
    log: NO_LOGGER,
    now: () => 0,
    random: () => 0,
    webhooks: { post: async () => Buffer.alloc(0) },
  }
  const audit = openAudit({ log: { path: '/dev/full', maxBytes: 0, maxBackups: 0, maxAgeMs: 0, isStrict } }, parts)
  expect([audit.write('one\n'), audit.write('two\n')]).toEqual([!isStrict, !isStrict])
  await audit.close()
  expect((await metrics.read('apiserver_audit_error_total')).get('apiserver_audit_error_total')).toMatchObject([
    { labels: { plugin: 'log' }, value: 2 },
  ])
})
