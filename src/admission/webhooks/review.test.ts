import { describe, expect, test } from 'vitest'
import { attributesFor } from '../attributes.suite.js'
import { requestedResource } from '../expressions/admission-request.js'
import { encodeRequest, encodeReview, readReview, refusalBy, reviewVersionOf } from './review.js'

const UID = '11111111-2222-3333-4444-555555555555'
const V1 = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
const read = (body: unknown, { version = 'v1' as const, isMutating = false } = {}) =>
  readReview(version, UID, isMutating, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
const response = (members: object) => ({ ...V1, response: { uid: UID, allowed: true, ...members } })
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('a review has the request and both objects', () => {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }
  const attributes = attributesFor('pods', { object })
  const request = encodeRequest(attributes, requestedResource(attributes), attributes)
  expect(JSON.parse(encodeReview('v1', UID, request))).toEqual({
    ...V1,
    request: {
      uid: UID,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      name: 'a',
      namespace: 'x',
      operation: 'CREATE',
      userInfo: expect.objectContaining({ username: 'alice' }),
      object,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  })
})

test('the first version that is known is used', () => {
  expect(reviewVersionOf(['v2', 'v1beta1', 'v1'])).toBe('v1beta1')
  expect(reviewVersionOf(['v2'])).toBeUndefined()
})

describe('a response', () => {
  test('that is acceptable', () => {
    const given = response({
      warnings: ['careful'],
      auditAnnotations: { a: 'b' },
      patch: base64('[]'),
      patchType: 'JSONPatch',
    })
    expect(read(given, { isMutating: true })).toMatchObject({
      allowed: true,
      warnings: ['careful'],
      auditAnnotations: { a: 'b' },
      patch: Buffer.from('[]'),
      patchType: 'JSONPatch',
    })
  })

  const type = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  const invalid = "couldn't get version/kind; json parse error: "
  test.each<[unknown, string]>([
    ['{', `${invalid}unexpected end of JSON input`],
    ['<html>', `${invalid}json: cannot unmarshal string into Go value of type ${type}`],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['kind: AdmissionReview\napiVersion: admission.k8s.io/v1', 'webhook response was absent'],
    ['[]', `${invalid}json: cannot unmarshal array into Go value of type ${type}`],
    [{ ...V1 }, 'webhook response was absent'],
    [{ ...V1, response: null }, 'webhook response was absent'],
    [
      { ...V1, apiVersion: 'admission.k8s.io/v1beta1' },
      'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [{ ...V1, apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c'],
    [
      { ...V1, apiVersion: 'x/v9' },
      'no kind "AdmissionReview" is registered for version "x/v9" in scheme "pkg/util/webhook/client.go:71"',
    ],
    [
      { apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'broken' },
      'converting (v1.Status) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      { response: { uid: UID } },
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [{ ...V1, response: { uid: 'x' } }, `expected response.uid="${UID}", got "x"`],
    [
      response({ allowed: 'yes' }),
      'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      response({ status: { code: 1.5 } }),
      'json: cannot unmarshal number 1.5 into Go struct field Status.response.status.code of type int32',
    ],
    [
      response({ status: { details: { causes: {} } } }),
      'json: cannot unmarshal object into Go struct field StatusDetails.response.status.details.causes of type []v1.StatusCause',
    ],
    [
      response({ patch: [91, 256] }),
      'json: cannot unmarshal number 256 into Go struct field AdmissionResponse.response.patch of type uint8',
    ],
    [response({ patch: [91, 93] }), 'validating webhook may not return response.patch'],
    [response({ patch: '!' }), 'illegal base64 data at input byte 0'],
    [response({ patch: base64('[]') }), 'validating webhook may not return response.patch'],
    [response({ patchType: 'JSONPatch' }), 'validating webhook may not return response.patchType'],
  ])('%j is refused', (body, message) => {
    expect(() => read(body)).toThrow(new Error(message))
  })

  test.each([
    ['"status":{"code":1E30}', 'number 1E30 into Go struct field Status.response.status.code of type int32'],
    ['"status":{"code":-0.0}', 'number -0.0 into Go struct field Status.response.status.code of type int32'],
    [
      '"status":{"metadata":{"remainingItemCount":9223372036854775808}}',
      'number 9223372036854775808 into Go struct field ListMeta.response.status.metadata.remainingItemCount of type int64',
    ],
    ['"patch":[1e2]', 'number 1e2 into Go struct field AdmissionResponse.response.patch of type uint8'],
    ['"warnings":[1e2]', 'number into Go struct field AdmissionResponse.response.warnings of type string'],
  ])('%s is refused, with the number as it was written', (member, message) => {
    const body = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"${UID}",${member}}}`
    expect(() => read(body)).toThrow(new Error(`json: cannot unmarshal ${message}`))
  })

  test.each([
    [{ patch: base64('[]') }, 'webhook returned response.patch but not response.patchType'],
    [{ patchType: 'JSONPatch' }, 'webhook returned response.patchType but not response.patch'],
    [{ patch: base64('[]'), patchType: '' }, 'webhook returned invalid response.patchType of ""'],
  ])('of a mutating webhook with %j is refused', (members, message) => {
    expect(() => read(response(members), { isMutating: true })).toThrow(new Error(message))
  })

  test('in v1beta1 needs neither uid nor types', () => {
    const body = Buffer.from(JSON.stringify({ response: { allowed: true, patch: base64('[]') } }))
    expect(readReview('v1beta1', UID, true, body)).toMatchObject({ allowed: true, patchType: 'JSONPatch' })
  })
})

describe('a refusal', () => {
  const denied = 'admission webhook "a" denied the request'
  test.each([
    [undefined, { message: `${denied} without explanation`, code: 400, status: 'Failure' }],
    [{ message: 'no' }, { message: `${denied}: no`, code: 400 }],
    [{ reason: 'Forbidden' }, { message: `${denied}: Forbidden`, reason: 'Forbidden', code: 400 }],
    [
      { code: 200, status: 'Success' },
      { code: 400, status: 'Failure' },
    ],
    [{ code: 418, message: 'no' }, { code: 418 }],
    [{ code: 2000, message: 'no' }, { code: 999 }],
  ])('%j', (result, status) => {
    expect(refusalBy('admission webhook "a"', result).status).toMatchObject(status)
  })
})
