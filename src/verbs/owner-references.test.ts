import { beforeEach, expect, test } from 'vitest'
import { builtinKinds } from '../builtin/builtin-kinds.js'
import { type ApiObject, setMeta } from '../meta/object/api-object.js'
import { metaOf, type OwnerReference } from '../meta/object/object-meta.js'
import { forResource, systemRequest } from '../request/request.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from './api-context.js'
import { createObject } from './write/create.js'
import { patchObject } from './write/patch.js'
import { updateObject } from './write/update.js'

const CONFIG_MAPS = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'ConfigMap')!
const OWNER: OwnerReference = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u1' }
const OTHER: OwnerReference = { ...OWNER, uid: 'u2' }
const SENT =
  '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1'
const ADMITTED = SENT.replace('entries;', 'entries after mutating admission happens;')

let context: ApiContext
let added: readonly OwnerReference[]

beforeEach(() => {
  added = []
  const mutate = ({ object }: { object?: ApiObject | undefined }): ApiObject | undefined => {
    if (object === undefined || added.length === 0) return undefined
    const meta = metaOf(object)
    return setMeta(object, { ...meta, ownerReferences: [...(meta.ownerReferences ?? []), ...added] })
  }
  context = createApiContext({ store: createMemoryStore(), admission: { mutate, validate: () => undefined } })
})

const requestFor = (name: string) =>
  forResource(
    systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' }),
    { kind: CONFIG_MAPS, version: CONFIG_MAPS.versions[0]!, namespace: 'x', name, subresource: '' },
    { dryRun: false, fieldManager: '', fieldValidation: '', force: false } as const,
  )
const bodyOf = (...ownerReferences: OwnerReference[]) => ({
  bytes: Buffer.from(
    JSON.stringify({ apiVersion: '/v1', kind: 'ConfigMap', metadata: { name: 'a', ownerReferences } }),
  ),
  mediaType: 'application/json',
})

async function create(...references: OwnerReference[]) {
  const request = requestFor('')
  const { object } = await createObject(context, request, bodyOf(...references))
  return { owners: metaOf(object.value()).ownerReferences, warnings: request.warnings.texts }
}

test('a create with duplicates keeps one of them and warns', async () => {
  expect(await create(OWNER, OTHER, OWNER)).toEqual({ owners: [OWNER, OTHER], warnings: [SENT] })
})

test('references that differ in any field are kept', async () => {
  const owners = [OWNER, { ...OWNER, controller: true }]
  expect(await create(...owners)).toEqual({ owners, warnings: [] })
})

test('duplicates of mutating admission are merged, too', async () => {
  added = [OWNER]
  expect(await create(OWNER)).toEqual({ owners: [OWNER], warnings: [ADMITTED] })
})

test('an update is treated as a create', async () => {
  await create()
  const request = requestFor('a')
  const { object } = await updateObject(context, request, bodyOf(OWNER, OWNER))
  expect([metaOf(object.value()).ownerReferences, request.warnings.texts]).toEqual([[OWNER], [SENT]])
})

test('the duplicates of a patch are found after admission', async () => {
  await create()
  const request = requestFor('a')
  const patch = Buffer.from(JSON.stringify({ metadata: { ownerReferences: [OWNER, OWNER] } }))
  const { object } = await patchObject(context, request, 'merge', patch)
  expect([metaOf(object.value()).ownerReferences, request.warnings.texts]).toEqual([[OWNER], [ADMITTED]])
})
