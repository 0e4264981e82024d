// The body of a delete, in each encoding, says that it is DeleteOptions of whatever group.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeCbor } from '../codec/cbor.js'
import { noteKind } from '../kinds/fake-kinds.suite.js'
import type { ValueObject } from '../meta/values/value.js'
import { systemRequest } from '../request/request.js'
import type { Target } from '../request/target.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { encodeMessage, sealEnvelope } from '../types/protobuf.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from './api-context.js'
import { createVerbs } from './verbs.js'

const KIND = noteKind()
const TARGET: Target = { kind: KIND, version: KIND.versions[0]!, namespace: 'default', name: 'a', subresource: '' }
const REQUEST = systemRequest({ user: { name: '', uid: '', groups: [], extra: {} }, userAgent: 'test' })
const NOTHING = new URLSearchParams()

let context: ApiContext
beforeEach(async () => {
  context = createApiContext({ store: createMemoryStore() })
  const note = { apiVersion: 'v1', kind: 'Note', metadata: { name: 'a' } }
  const body = { bytes: Buffer.from(JSON.stringify(note)), mediaType: 'application/json' }
  await createVerbs(context).create(REQUEST, { ...TARGET, name: '' }, NOTHING, body)
})
afterEach(() => context.close())

const isThere = async (): Promise<boolean> => (await context.objectStore(KIND).get('default', 'a')) !== undefined

const encoders: Record<string, (object: ValueObject & { apiVersion: string; kind: string }) => Buffer> = {
  'application/json': object => Buffer.from(JSON.stringify(object)),
  'application/yaml': object => Buffer.from(JSON.stringify(object)),
  'application/cbor': object => encodeCbor(object),
  'application/vnd.kubernetes.protobuf': ({ apiVersion, kind, ...options }) =>
    sealEnvelope(apiVersion, kind, encodeMessage(builtinTypes().byName('meta/v1.DeleteOptions'), options)),
}

describe.each(Object.entries(encoders))('%s', (mediaType, encode) => {
  const remove = (verb: 'delete' | 'deleteCollection', apiVersion: string, kind: string, options: ValueObject) =>
    createVerbs(context)[verb](REQUEST, TARGET, NOTHING, { bytes: encode({ apiVersion, kind, ...options }), mediaType })

  test.each(['v1', 'meta.k8s.io/v1', 'apps/v1', 'stable.example.com/v1'])('of %s is taken and read', async version => {
    await remove('delete', version, 'DeleteOptions', { dryRun: ['All'] })
    await remove('deleteCollection', version, 'DeleteOptions', { dryRun: ['All'] })
    expect(await isThere()).toBe(true)
    await remove('delete', version, 'DeleteOptions', {})
    expect(await isThere()).toBe(false)
  })

  test.each(['Deployment', 'CreateOptions'])('a %s is refused', async kind => {
    await expect(remove('delete', 'apps/v1', kind, {})).rejects.toMatchObject({ status: { code: 400 } })
    expect(await isThere()).toBe(true)
  })
})
