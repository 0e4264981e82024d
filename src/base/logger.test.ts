import { expect, test } from 'vitest'
import { createLogger, type LogLine, NO_LOGGER } from './logger.js'

test('each line carries its level, its own fields and those of its logger', () => {
  const lines: LogLine[] = []
  const log = createLogger(line => void lines.push(line), { controller: 'gc' })
  log.info('started')
  log.child({ key: 'a' }).warn('failed', { attempt: 2, key: 'b' })
  expect(lines).toEqual([
    { level: 'info', message: 'started', fields: { controller: 'gc' } },
    { level: 'warn', message: 'failed', fields: { controller: 'gc', key: 'b', attempt: 2 } },
  ])
})

test('the logger that writes nothing has children that write nothing', () => {
  expect(() => NO_LOGGER.child({ a: 1 }).error('x')).not.toThrow()
})
