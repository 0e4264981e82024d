import { describe, expect, it } from 'vitest'
import { encodeReview, readReview, reviewVersionOf } from './conversion-review.js'

const UID = 'a-uid'
const OBJECT = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'a' } }
const REVIEW = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }
const RESPONSE = { uid: UID, result: { status: 'Success' }, convertedObjects: [OBJECT] }

const read = (answer: unknown, version: 'v1' | 'v1beta1' = 'v1') =>
  readReview(version, UID, Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)))

it.each([
  [['v1'], 'v1'],
  [['v9', 'v1beta1', 'v1'], 'v1beta1'],
  [['v1', 'v1beta1'], 'v1'],
  [['v9'], undefined],
])('of %j the first that is known is %s', (versions, version) => {
  expect(reviewVersionOf(versions)).toBe(version)
})

it('requests objects in another version', () => {
  expect(JSON.parse(encodeReview('v1beta1', UID, 'g/v2', [JSON.stringify(OBJECT), '{}']))).toEqual({
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    request: { uid: UID, desiredAPIVersion: 'g/v2', objects: [OBJECT, {}] },
  })
})

describe('a response', () => {
  it('has the objects with exact integers', () => {
    const answer = JSON.stringify({ ...REVIEW, response: RESPONSE }).replace('"a"', '9007199254740993')
    expect(read(answer)).toEqual([{ ...OBJECT, metadata: { name: 9007199254740993n } }])
  })

  it.each([
    ['no response provided', { ...REVIEW }],
    ['expected response.uid="a-uid", got "b"', { ...REVIEW, response: { ...RESPONSE, uid: 'b' } }],
    [
      "response.result.status was 'Failed', not 'Success'",
      { ...REVIEW, response: { ...RESPONSE, result: { status: 'Failed' } } },
    ],
    ["response.result.status was '', not 'Success'", { ...REVIEW, response: { uid: UID } }],
    ['out of luck', { ...REVIEW, response: { uid: UID, result: { status: 'Failed', message: 'out of luck' } } }],
    [
      'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
      { response: RESPONSE },
    ],
    [
      'no kind "Other" is registered for version "v9" in scheme "pkg/util/webhook/client.go:71"',
      { apiVersion: 'v9', kind: 'Other', response: RESPONSE },
    ],
    [
      'converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
      { ...REVIEW, apiVersion: 'apiextensions.k8s.io/v1beta1', response: RESPONSE },
    ],
    ['unexpected GroupVersion string: a/b/c', { ...REVIEW, apiVersion: 'a/b/c' }],
    [
      'json: cannot unmarshal number into Go struct field ConversionReview.response of type v1.ConversionResponse',
      { ...REVIEW, response: 1 },
    ],
    [
      'json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of type types.UID',
      { ...REVIEW, response: { ...RESPONSE, uid: 5 } },
    ],
    [
      'json: cannot unmarshal string into Go struct field ConversionResponse.response.result of type v1.Status',
      { ...REVIEW, response: { ...RESPONSE, result: 'Success' } },
    ],
    [
      'json: cannot unmarshal string into Go struct field Status.response.result.code of type int32',
      { ...REVIEW, response: { ...RESPONSE, result: { status: 'Success', code: 'x' } } },
    ],
    [
      'json: cannot unmarshal object into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension',
      { ...REVIEW, response: { ...RESPONSE, convertedObjects: {} } },
    ],
    ["couldn't get version/kind; json parse error: unexpected end of JSON input", '{"kind":'],
    ["couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct", []],
    ['yaml: mapping values are not allowed in this context', 'a: b: c'],
  ])('is refused: %s', (message, answer) => {
    expect(() => read(answer)).toThrow(message)
  })

  it('in v1beta1 need not have a uid, nor a type', () => {
    expect(read({ ...REVIEW, apiVersion: undefined, response: RESPONSE }, 'v1beta1')).toEqual([OBJECT])
    expect(read({ response: { ...RESPONSE, uid: '' } }, 'v1beta1')).toEqual([OBJECT])
    expect(() => read({ ...REVIEW, response: RESPONSE }, 'v1beta1')).toThrow('unknown conversion')
  })

  it('without a list of objects has none', () => {
    expect(read({ ...REVIEW, response: { ...RESPONSE, convertedObjects: null } })).toEqual([])
  })
})
