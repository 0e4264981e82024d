import { expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { clientGone, forResource, type ResourceRequest, systemRequest } from '../../request/request.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import type { Store } from '../../storage/store.js'
import { type ApiContext, createApiContext } from '../api-context.js'
import { MADE } from '../pipeline/prepared.js'
import { createFrom } from './create.js'
import { remove } from './delete.js'
import { replace } from './update.js'

const kind = widgetKind()
const target = { kind, version: kind.versions[0]!, namespace: 'x', name: 'a', subresource: '' } as const
const WRITE = { dryRun: false, fieldManager: '', fieldValidation: '' } as const
const DELETE = { dryRun: false, ignoreStoreReadError: false }
const widget = (metadata: object) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { ...metadata } })

interface Losing {
  readonly context: ApiContext
  requestFor<O>(options: O): ResourceRequest<O>
  readonly writes: () => number
}

/** There is a widget, and each write is lost to another one; the client goes away after the third. */
async function losing(): Promise<Losing> {
  const memory = createMemoryStore()
  await memory.create(`${kind.keyPrefix}x/a`, Buffer.from(JSON.stringify(widget({ name: 'a', namespace: 'x' }))))
  const controller = new AbortController()
  let writes = 0
  const lose = async () => {
    if (++writes === 3) controller.abort(clientGone())
    return { done: false } as const
  }
  const store = { ...memory, create: lose, update: lose, delete: lose } as unknown as Store
  const user = { name: 'test', uid: '', groups: [], extra: {} }
  const request = systemRequest({ user, userAgent: 'test', signal: controller.signal })
  return {
    context: createApiContext({ store }),
    requestFor: options => forResource(request, target, options),
    writes: () => writes,
  }
}

test.each<[string, (losing: Losing) => Promise<unknown>]>([
  [
    'a create',
    ({ context, requestFor }) => createFrom(context, requestFor(WRITE), widget({ generateName: 'w-' }), MADE),
  ],
  [
    'an update',
    ({ context, requestFor }) =>
      replace(context, requestFor(WRITE), async old => ({
        object: { ...old!, spec: { color: 'red' } },
        ...MADE,
        isWhatClientSaw: false,
      })),
  ],
  ['a delete', ({ context, requestFor }) => remove(context, requestFor(DELETE))],
])('%s is not tried again for a client that has gone', async (_, attempt) => {
  const world = await losing()
  await expect(attempt(world)).rejects.toThrow('the client closed the request')
  expect(world.writes()).toBe(3)
})
