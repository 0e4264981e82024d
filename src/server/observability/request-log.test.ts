import { expect, test } from 'vitest'
import { createLogger, type LogLine } from '../../base/logger.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { printLine } from './logging.js'
import { createRequestLog } from './request-log.js'

function logOf(
  verbosity: number,
  status: number,
  ms: number,
  { query = '', failure }: { query?: string; failure?: unknown } = {},
) {
  const lines: LogLine[] = []
  const path = '/api/v1/pods'
  createRequestLog({ level: verbosity })(
    {
      info: parseRequestInfo('GET', path, query),
      user: { name: 'alice' },
      userAgent: 'kubectl',
      exchange: { path, query },
      log: createLogger(line => void lines.push(line), { auditId: 'id' }),
      failure,
    },
    status,
    ms,
  )
  return lines.map(({ level, message, fields }) => `${level} ${message} ${String(fields['status'])}`)
}

test.each<[number, number, number, object, string[]]>([
  [0, 200, 5000, {}, []],
  [1, 200, 5000, {}, ['info slow request 200']],
  [1, 200, 10, {}, []],
  [1, 200, 5000, { query: 'watch=true' }, []],
  [2, 200, 10, {}, ['info request 200']],
  [2, 200, 5000, { query: 'watch=true' }, ['info request 200']],
  [0, 404, 10, {}, []],
  [0, 503, 10, {}, ['warn request failed 503']],
  [0, 500, 10, { failure: new Error('bug') }, ['error request failed 500']],
])('with verbosity %i, status %i after %i ms %j', (verbosity, status, ms, more, expected) => {
  expect(logOf(verbosity, status, ms, more)).toEqual(expected)
})

test('a line of text has its fields, and the stack of an error', () => {
  const error = new Error('bug')
  error.stack = 'Error: bug\n    at here'
  const fields = { auditId: 'id', path: '/a b', status: 500, user: 'a\nb', none: undefined, error }
  expect(printLine({ level: 'error', message: 'request failed', fields }, new Date(0))).toBe(
    '1970-01-01T00:00:00.000Z ERROR request failed auditId=id path="/a b" status=500 user="a\\nb"\n    Error: bug\n        at here',
  )
})
