import { expect, it } from 'vitest'
import { createLogger, type LogLine } from '../../base/logger.js'
import { parseRequestInfo, type RequestInfo } from '../../request/request-info.js'
import { deprecatedUse } from './deprecated-use.js'

const request = (resource: string, name: string, userAgent: string) => ({
  info: parseRequestInfo('GET', `/apis/example.com/v1beta1/${resource}`, ''),
  user: { name, uid: '', groups: [], extra: {} },
  userAgent,
})

function listen() {
  const lines: LogLine[] = []
  const counted: RequestInfo[] = []
  const log = createLogger(line => void lines.push(line))
  return { lines, counted, use: deprecatedUse({ onDeprecated: info => void counted.push(info) }, log) }
}

it('names each client once for each resource, and counts every request', () => {
  const { lines, counted, use } = listen()
  use(request('widgets', 'alice', 'kubectl/v1.36 (linux)'), 'use v1')
  use(request('widgets', 'alice', 'kubectl/v1.36 (darwin)'), 'use v1')
  use(request('gadgets', 'alice', 'kubectl/v1.36 (linux)'), 'use v1')
  use(request('widgets', 'bob', ''), 'use v1')
  const line = (user: string, client: string, resource: string) => ({
    level: 'warn',
    message: 'a deprecated API version is in use',
    fields: { user, client, version: 'example.com/v1beta1', resource, warning: 'use v1' },
  })
  expect(lines).toEqual([
    line('alice', 'kubectl/v1.36', 'widgets'),
    line('alice', 'kubectl/v1.36', 'gadgets'),
    line('bob', '', 'widgets'),
  ])
  expect(counted).toHaveLength(4)
})

it('logs a limited number of clients', () => {
  const { lines, use } = listen()
  for (let i = 0; i < 2000; i++) use(request('widgets', `user-${i}`, ''), 'use v1')
  expect(lines).toHaveLength(1000)
})
