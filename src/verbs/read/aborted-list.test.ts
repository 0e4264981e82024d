import { expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { parseListOptions } from '../../meta/options/list-options.js'
import { clientGone, forResource, systemRequest } from '../../request/request.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import type { RangeOptions, Store } from '../../storage/store.js'
import { createApiContext } from '../api-context.js'
import { listObjects } from './list.js'

const kind = widgetKind()
const target = { kind, version: kind.versions[0]!, namespace: '', name: '', subresource: '' } as const
const LIST = parseListOptions(new URLSearchParams())

test('a list is not read on for a client that has gone', async () => {
  const memory = createMemoryStore()
  for (let i = 0; i < 3000; i++) {
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${i}`, namespace: 'x' } }
    await memory.create(`${kind.keyPrefix}x/w${i}`, Buffer.from(JSON.stringify(widget)))
  }
  const controller = new AbortController()
  let pages = 0
  const store: Store = {
    ...memory,
    range(prefix: string, options?: RangeOptions) {
      if (++pages === 2) controller.abort(clientGone())
      return memory.range(prefix, options)
    },
  }
  const user = { name: 'test', uid: '', groups: [], extra: {} }
  const request = forResource(systemRequest({ user, userAgent: 'test', signal: controller.signal }), target, LIST)
  const read = async (): Promise<number> => {
    let count = 0
    const list = await listObjects(createApiContext({ store }), request)
    for await (const page of list.pages) count += page.length
    return count
  }
  await expect(read()).rejects.toThrow('the client closed the request')
  expect(pages).toBe(2)
})
