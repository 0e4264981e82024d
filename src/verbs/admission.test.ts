// Which objects admission sees, in which phase.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Attributes } from '../admission/attributes.js'
import type { Admission } from '../admission/chain.js'
import { builtinKinds } from '../builtin/builtin-kinds.js'
import { widgetKind } from '../kinds/fake-kinds.suite.js'
import type { Kind } from '../kinds/kind.js'
import { forResource, systemRequest } from '../request/request.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from './api-context.js'
import { MADE } from './pipeline/prepared.js'
import { createVerbs } from './verbs.js'
import { createFrom } from './write/create.js'

const user = { name: 'test', uid: '', groups: [], extra: {} }
const request = systemRequest({ user, userAgent: 'test' })
const NO_QUERY = new URLSearchParams()
const json = (value: object, mediaType = 'application/json') => ({
  bytes: Buffer.from(JSON.stringify(value)),
  mediaType,
})

let seen: string[]
let context: ApiContext

const print = ({ operation, resource, subresource, kind, object, oldObject }: Attributes): string =>
  `${operation} ${resource.resource}${subresource && `/${subresource}`} ${kind.kind} ${object ? 'new' : '-'} ${oldObject ? 'old' : '-'}`

const admission: Admission = {
  mutate(attributes) {
    seen.push(`mutate ${print(attributes)}`)
    return undefined
  },
  validate: attributes => void seen.push(`validate ${print(attributes)}`),
  check: () => [],
  stored() {},
}

beforeEach(() => {
  seen = []
  context = createApiContext({ store: createMemoryStore(), admission })
})

const targetOf = (kind: Kind, name: string, subresource = '') => ({
  kind,
  version: kind.versions[0]!,
  namespace: 'x',
  name,
  subresource,
})

describe('a scale', () => {
  const deployments = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'Deployment')!
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }

  test('is admitted as a Scale, and not as its parent', async () => {
    const verbs = createVerbs(context)
    await verbs.create(request, targetOf(deployments, ''), NO_QUERY, json(deployment))
    seen = []
    const patch = json({ spec: { replicas: 3 } }, 'application/merge-patch+json')
    await verbs.patch(request, targetOf(deployments, 'd', 'scale'), NO_QUERY, patch)
    expect(seen).toEqual([
      'mutate UPDATE deployments/scale Scale new old',
      'validate UPDATE deployments/scale Scale new old',
    ])
  })

  test('may be changed by admission', async () => {
    const five: Admission = {
      ...admission,
      mutate: ({ kind, object }) => (kind.kind === 'Scale' ? { ...object!, spec: { replicas: 5 } } : undefined),
    }
    const verbs = createVerbs({ ...context, admission: five })
    await verbs.create(request, targetOf(deployments, ''), NO_QUERY, json(deployment))
    const patch = json({ spec: { replicas: 3 } }, 'application/merge-patch+json')
    await verbs.patch(request, targetOf(deployments, 'd', 'scale'), NO_QUERY, patch)
    const result = await verbs.get(request, targetOf(deployments, 'd'), NO_QUERY)
    expect(result.type === 'object' && result.object.value()['spec']).toMatchObject({ replicas: 5 })
  })
})

test('a delete goes through both phases', async () => {
  const kind = widgetKind()
  const verbs = createVerbs(context)
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
  await verbs.create(request, targetOf(kind, ''), NO_QUERY, json(widget))
  seen = []
  await verbs.delete(request, targetOf(kind, 'a'), NO_QUERY, { bytes: Buffer.alloc(0), mediaType: '' })
  expect(seen).toEqual(['mutate DELETE widgets Widget - old', 'validate DELETE widgets Widget - old'])
})

test('each attempt to generate a name starts from the admitted object', async () => {
  const [version] = widgetKind().versions
  let prepared = 0
  const kind = widgetKind({
    strategy: {
      ...version!.strategy,
      // Like the labels of a Job, this is only set if it is missing.
      prepareForCreate(object) {
        prepared++
        object['uidOfSpec'] ??= object.metadata['uid']!
        return object
      },
    },
  })
  const suffixes = ['taken', 'taken', 'fresh']
  const ids = { uid: () => `uid-${prepared}`, nameSuffix: () => suffixes.shift()! }
  const generated = () => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { generateName: 'w-' } })
  const options = { dryRun: false, fieldManager: '', fieldValidation: '' } as const
  const create = () =>
    createFrom({ ...context, ids }, forResource(request, targetOf(kind, ''), options), generated(), MADE)
  await create()
  const second = (await create()).value()
  expect(second.metadata).toMatchObject({ name: 'w-fresh', uid: 'uid-2' })
  expect(second['uidOfSpec']).toBe('uid-2')
})
