import { expect, test } from 'vitest'
import { encodeJson } from '../codec/json/encode.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { createStoredCodec } from './stored-object.js'

const { encode, decode } = createStoredCodec()

const object = (managedFields?: ApiObject['metadata'][string]): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    labels: { '<': 'b', managedFields: '0', x: '"managedFields":0' },
    ...(managedFields !== undefined && { managedFields }),
    zone: 1,
  },
  data: { a: 'line\n' },
})
const fieldsV1 = { 'f:data': { '.': {}, 'k:{"name":"<"}': {} } }
const entry = { manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1, subresource: 'status' }

test.each([
  ['no managers', undefined],
  ['an empty list of them', []],
  ['a manager', [entry]],
  ['a manager with an odd name', [{ ...entry, manager: '"fieldsV1":0' }]],
  ['several', [entry, { ...entry, manager: 'n', fieldsV1: {} }]],
  ['an empty entry', [{}]],
  ['what are no entries', [1, null, 'x', { fieldsV1: 'x' }]],
])('an object with %s is stored as it is encoded, and decoded again', (_, managedFields) => {
  const bytes = encode(object(managedFields))
  expect(bytes.toString()).toBe(encodeJson(object(managedFields)))
  expect(encode(decode({ key: 'k', value: bytes, revision: 7 })).equals(bytes)).toBe(true)
})

test('objects with the same fieldsV1 share its value, and nothing else', () => {
  const bytes = encode({ ...object([entry]), spec: { fieldsV1: { a: 1 } } })
  const read = (): ApiObject => decode({ key: 'k', value: bytes, revision: 7 })
  const [a, b] = [read(), read()]
  const fieldsIn = ({ metadata }: ApiObject): unknown =>
    (metadata['managedFields'] as { fieldsV1: unknown }[])[0]!.fieldsV1
  expect(fieldsIn(a)).toBe(fieldsIn(b))
  expect(a['spec']).not.toBe(b['spec'])
  expect(a.metadata['managedFields']).not.toBe(b.metadata['managedFields'])
})
