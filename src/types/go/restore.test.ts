import { expect, test } from 'vitest'
import { type Value, WholeFloat } from '../../meta/values/value.js'
import { builtinTypes } from '../type-table.js'
import { restoreTyped } from './restore.js'

const table = builtinTypes()
const restore = (type: string, value: Value): Value => restoreTyped(table.byName(type), value)

test.each<[string, Value, string]>([
  ['core/v1.Namespace', { metadata: { labels: 'invalid' } }, 'cannot restore map from string'],
  ['core/v1.Namespace', { metadata: { labels: { a: 1 } } }, 'cannot convert int64 to string'],
  ['core/v1.Namespace', { metadata: { labels: { a: true } } }, 'unrecognized type: string'],
  ['core/v1.Namespace', { metadata: { labels: { a: 1.5 } } }, 'unrecognized type: string'],
  ['core/v1.Namespace', { spec: { finalizers: 'x' } }, 'cannot restore slice from string'],
  ['core/v1.Namespace', { spec: { finalizers: [1] } }, 'cannot convert int64 to v1.FinalizerName'],
  ['core/v1.Namespace', { metadata: 5 }, 'cannot restore struct from: int64'],
  ['core/v1.Namespace', { metadata: { generation: 'x' } }, 'unrecognized type: int64'],
  ['core/v1.Namespace', { metadata: { generation: 1.5 } }, 'cannot convert float64 to int64'],
  [
    'core/v1.Namespace',
    { metadata: { creationTimestamp: 5 } },
    'json: cannot unmarshal number into Go value of type string',
  ],
  ['core/v1.Secret', { data: { a: '!' } }, 'error decoding from json: illegal base64 data at input byte 0'],
  ['core/v1.ConfigMap', { immutable: 'x' }, 'unrecognized type: bool'],
])('%s %j is refused: %s', (type, value, message) => {
  expect(() => restore(type, value)).toThrow(message)
})

test('the first field of the struct in error is reported, not the first of the document', () => {
  expect(() => restore('core/v1.Namespace', { spec: 1, metadata: 'a' })).toThrow('cannot restore struct from: string')
})

test('whole floats are integers, and integers that are too large are cut', () => {
  expect(restore('apps/v1.Deployment', { spec: { replicas: new WholeFloat(2) } })).toEqual({ spec: { replicas: 2 } })
  expect(restore('apps/v1.Deployment', { spec: { replicas: 4294967297 } })).toEqual({ spec: { replicas: 1 } })
})

test('a float that is too large for an integer becomes the lowest one, of which an int32 keeps the lowest bits', () => {
  const huge = new WholeFloat(1e300)
  expect(restore('apps/v1.ControllerRevision', { revision: huge })).toEqual({ revision: -(2n ** 63n) })
  expect(restore('apps/v1.Deployment', { spec: { replicas: huge } })).toEqual({ spec: { replicas: 0 } })
  expect(restore('apps/v1.ControllerRevision', { revision: new WholeFloat(2 ** 60) })).toEqual({ revision: 2n ** 60n })
})

test('JSON of any form has its members by name', () => {
  const restored = restore('runtime.RawExtension', { b: 1, a: { d: 1, c: 2 } })
  expect(JSON.stringify(restored)).toBe('{"a":{"c":2,"d":1},"b":1}')
})
