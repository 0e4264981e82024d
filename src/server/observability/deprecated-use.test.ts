import { expect, it } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import { deprecatedUse } from './deprecated-use.js'
import type { DeprecatedApi } from './metrics.js'

const request = (resource: string, name: string, userAgent: string) => ({
  info: parseRequestInfo('GET', `/apis/example.com/v1beta1/${resource}`, ''),
  user: { name, uid: '', groups: [], extra: {} },
  userAgent,
})

function listen() {
  const told: string[] = []
  const counted: DeprecatedApi[] = []
  const metrics = {
    onDeprecated: (api: DeprecatedApi) => void counted.push(api),
    onRequestEnd() {},
    print: async () => '',
  }
  return { told, counted, use: deprecatedUse(metrics, text => void told.push(text)) }
}

it('names each client once for each resource, and counts every request', () => {
  const { told, counted, use } = listen()
  use(request('widgets', 'alice', 'kubectl/v1.36 (linux)'), 'use v1')
  use(request('widgets', 'alice', 'kubectl/v1.36 (darwin)'), 'use v1')
  use(request('gadgets', 'alice', 'kubectl/v1.36 (linux)'), 'use v1')
  use(request('widgets', 'bob', ''), 'use v1')
  expect(told).toEqual([
    '"alice" ("kubectl/v1.36") still uses example.com/v1beta1 widgets: use v1',
    '"alice" ("kubectl/v1.36") still uses example.com/v1beta1 gadgets: use v1',
    '"bob" still uses example.com/v1beta1 widgets: use v1',
  ])
  expect(counted).toHaveLength(4)
  expect(counted[0]).toEqual({ group: 'example.com', version: 'v1beta1', resource: 'widgets', subresource: '' })
})

it('does not go on for ever', () => {
  const { told, use } = listen()
  for (let i = 0; i < 2000; i++) use(request('widgets', `user-${i}`, ''), 'use v1')
  expect(told).toHaveLength(1000)
})
