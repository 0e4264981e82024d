import { expect, test } from 'vitest'
import type { Admission } from '../../admission/chain.js'
import { noteKind } from '../../kinds/fake-kinds.suite.js'
import { forbidden } from '../../meta/errors/status.js'
import { systemRequest } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { createApiContext } from '../api-context.js'
import { createVerbs } from '../verbs.js'

const KIND = noteKind()
const TARGET: Target = { kind: KIND, version: KIND.versions[0]!, namespace: 'default', name: '', subresource: '' }
const REQUEST = systemRequest({ user: { name: '', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NOTHING = new URLSearchParams()
const body = (object: object) => ({ bytes: Buffer.from(JSON.stringify(object)), mediaType: 'application/json' })

const allButTheFirst: Admission = {
  mutate: () => undefined,
  validate({ operation, name }) {
    if (operation === 'DELETE' && name === 'a10') throw forbidden({ group: '', resource: 'notes' }, name, 'it stays')
  },
  check: () => [],
  stored() {},
}

test('objects after one that may not be deleted stay', async () => {
  const context = createApiContext({ store: createMemoryStore(), admission: allButTheFirst })
  const verbs = createVerbs(context)
  // More than are deleted at a time.
  for (let i = 10; i < 90; i++)
    await verbs.create(REQUEST, TARGET, NOTHING, body({ apiVersion: 'v1', kind: 'Note', metadata: { name: `a${i}` } }))
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' }
  await expect(verbs.deleteCollection(REQUEST, TARGET, NOTHING, body(options))).rejects.toThrow('it stays')
  // What was begun ends.
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  expect(await context.objectStore(KIND).get('default', 'a89')).toBeDefined()
  await context.close()
})
