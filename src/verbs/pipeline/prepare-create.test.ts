// The pipeline without a store, as an offline check of objects uses it.
import { expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { customKind } from '../../crd/custom-kind.js'
import { NO_NAMES, withRightStatus } from '../../crd/definition-status.js'
import { widgetDefinition } from '../../crd/definitions.suite.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { forResource, systemRequest } from '../../request/request.js'
import { builtinTypes } from '../../types/type-table.js'
import { bodySpecOf, readObject } from './decode-body.js'
import { offlineEnv } from './pipeline-env.js'
import { prepareCreate } from './prepare-create.js'
import { DECODED, type Prepared } from './prepared.js'

const env = offlineEnv({ now: () => 0, ids: { uid: () => 'u', nameSuffix: () => 'abcde' } })
const user = { name: 'test', uid: '', groups: [], extra: {} }
const WIDGETS = customKind(builtinTypes(), withRightStatus(widgetDefinition(), NO_NAMES, 0))!
const PODS = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'Pod')!

async function prepare(kind: Kind, body: object): Promise<Prepared & { warnings: readonly string[] }> {
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource: '' }
  const options = { dryRun: false, fieldManager: '', fieldValidation: '' } as const
  const request = forResource(systemRequest({ user, userAgent: 'test' }), target, options)
  const bytes = Buffer.from(JSON.stringify(body))
  const sent = readObject(request, { bytes, mediaType: 'application/json' }, bodySpecOf(target), '')
  return { ...(await prepareCreate(env, request, sent, DECODED)), warnings: request.warnings.texts }
}

function metadataOf(object: ApiObject) {
  const { managedFields: _, ...metadata } = object.metadata
  return metadata
}

test('a built-in object is completed', async () => {
  const pod = { metadata: { generateName: 'p-' }, spec: { containers: [{ name: 'c', image: 'i' }] }, other: 1 }
  const { object, stored, isNormal, warnings } = await prepare(PODS, pod)
  expect(metadataOf(object)).toEqual({
    creationTimestamp: '1970-01-01T00:00:00Z',
    generateName: 'p-',
    generation: 1,
    name: 'p-abcde',
    namespace: 'x',
    uid: 'u',
  })
  expect(object['spec']).toMatchObject({ restartPolicy: 'Always' })
  expect([stored === object, isNormal, warnings]).toEqual([true, true, ['unknown field "other"']])
})

test('a custom object is completed', async () => {
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
  const { object, isNormal } = await prepare(WIDGETS, body)
  expect(metadataOf(object)).toMatchObject({ name: 'a', namespace: 'x', uid: 'u', generation: 1 })
  expect(isNormal).toBe(true)
})

test('an invalid object is refused in the words of the server', async () => {
  await expect(prepare(PODS, { metadata: { name: 'p' }, spec: { containers: [] } })).rejects.toThrow(
    'Pod "p" is invalid: spec.containers: Required value',
  )
})
