import { expect, test } from 'vitest'
import type { Value } from '../meta/values/value.js'
import { goStatus, goStruct, goTextMap, goTexts, readStruct } from './go-struct.js'

const read = (response: Value) =>
  readStruct({ response }, 'Review', {
    response: goStruct('v1.Response', { warnings: goTexts, annotations: goTextMap, status: goStatus }),
  }).response

test('members that are null, empty or unknown are left out', () => {
  const status = {
    code: 403,
    message: '',
    details: { name: '', causes: [], retryAfterSeconds: 0, kind: 'k' },
    other: 1,
  }
  expect(read({ unknown: 1, warnings: null, annotations: { a: 'b', c: null }, status })).toEqual({
    annotations: { a: 'b', c: '' },
    status: { message: '', details: { kind: 'k' }, code: 403 },
  })
})

test.each<[Value, string]>([
  [1, 'number into Go struct field Review.response of type v1.Response'],
  [{ warnings: 'x' }, 'string into Go struct field Response.response.warnings of type []string'],
  [{ warnings: [null, 1] }, 'number into Go struct field Response.response.warnings of type string'],
  [{ annotations: [] }, 'array into Go struct field Response.response.annotations of type map[string]string'],
  [{ annotations: { a: {} } }, 'object into Go struct field Response.response.annotations of type string'],
  [{ status: { code: 1.5 } }, 'number 1.5 into Go struct field Status.response.status.code of type int32'],
  [{ status: { code: 2 ** 31 } }, 'number 2147483648 into Go struct field Status.response.status.code of type int32'],
  [
    { status: { details: { causes: [{}, { field: true }] } } },
    'bool into Go struct field StatusCause.response.status.details.causes.field of type string',
  ],
])('%j: cannot unmarshal %s', (value, message) => {
  expect(() => read(value)).toThrow(`json: cannot unmarshal ${message}`)
})

test('of several errors the first in the document counts', () => {
  expect(() => read({ status: { details: 1, code: 'x' } })).toThrow('response.status.details')
  expect(() => read({ status: { code: 'x', details: 1 } })).toThrow('response.status.code')
})
