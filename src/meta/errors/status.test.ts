import { describe, expect, it, test } from 'vitest'
import { fieldInvalid, fieldRequired } from './field-errors.js'
import * as status from './status.js'

const widgets = { group: 'example.com', resource: 'widgets' }
const configmaps = { group: '', resource: 'configmaps' }
const widget = { name: 'a', group: 'example.com', kind: 'widgets' }

describe('each reason has its code, message and details', () => {
  test.each<[string, status.StatusError, Partial<status.Status>]>([
    [
      'NotFound',
      status.notFound(widgets, 'a'),
      { code: 404, message: 'widgets.example.com "a" not found', details: widget },
    ],
    [
      'NotFound',
      status.notFound(configmaps, 'a\x00'),
      { code: 404, message: 'configmaps "a\\x00" not found', details: { name: 'a\x00', kind: 'configmaps' } },
    ],
    [
      'AlreadyExists',
      status.alreadyExists(widgets, 'a'),
      { code: 409, message: 'widgets.example.com "a" already exists' },
    ],
    [
      'AlreadyExists',
      status.beingDeleted(widgets, 'a'),
      { code: 409, message: 'object is being deleted: widgets.example.com "a" already exists', details: widget },
    ],
    ['AlreadyExists', status.generatedNameTaken(widgets, 'a'), { details: { ...widget, retryAfterSeconds: 1 } }],
    [
      'Conflict',
      status.modifiedMeanwhile(widgets, 'a'),
      {
        code: 409,
        message:
          'Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
      },
    ],
    [
      'Conflict',
      status.applyConflict('Apply failed', [{ reason: 'FieldManagerConflict', field: '.a' }]),
      { code: 409, details: { causes: [{ reason: 'FieldManagerConflict', field: '.a' }] } },
    ],
    ['Forbidden', status.forbidden(widgets, '', 'no'), { code: 403, message: 'widgets.example.com is forbidden: no' }],
    ['Forbidden', status.forbidden(configmaps, 'a', 'no'), { message: 'configmaps "a" is forbidden: no' }],
    [
      'Forbidden',
      status.forbidden({ group: '', resource: '' }, '', 'User "x" cannot get path "/"'),
      { message: 'forbidden: User "x" cannot get path "/"', details: {} },
    ],
    [
      'Forbidden',
      status.namespaceTerminating(configmaps, 'a', 'ns'),
      {
        message:
          'configmaps "a" is forbidden: unable to create new content in namespace ns because it is being terminated',
        details: {
          name: 'a',
          kind: 'configmaps',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: 'namespace ns is being terminated',
              field: 'metadata.namespace',
            },
          ],
        },
      },
    ],
    ['Unauthorized', status.unauthorized(), { code: 401, message: 'Unauthorized' }],
    ['BadRequest', status.badRequest('no'), { code: 400, message: 'no' }],
    [
      'MethodNotAllowed',
      status.methodNotSupported(widgets, 'create'),
      {
        code: 405,
        message: 'create is not supported on resources of kind "widgets.example.com"',
        details: { group: 'example.com', kind: 'widgets' },
      },
    ],
    ['NotAcceptable', status.noneAcceptable(['a/b', 'c/d']), { code: 406 }],
    [
      'UnsupportedMediaType',
      status.unsupportedMediaType(['a/b', 'c/d']),
      {
        code: 415,
        message: 'the body of the request was in an unknown format - accepted media types include: a/b, c/d',
      },
    ],
    [
      'RequestEntityTooLarge',
      status.requestEntityTooLarge('limit is 5'),
      { code: 413, message: 'Request entity too large: limit is 5' },
    ],
    ['TooManyRequests', status.tooManyRequests('later', 10), { code: 429, details: { retryAfterSeconds: 10 } }],
    ['ServiceUnavailable', status.serviceUnavailable('later'), { code: 503 }],
    ['Timeout', status.timeout('too slow'), { code: 504, message: 'Timeout: too slow', details: {} }],
    [
      'Timeout',
      status.tooLargeResourceVersion(9n, 5),
      {
        code: 504,
        message: 'Timeout: Too large resource version: 9, current: 5',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      },
    ],
    [
      'ServerTimeout',
      status.serverTimeout(widgets, 'list', 2),
      { code: 500, details: { ...widget, name: 'list', retryAfterSeconds: 2 } },
    ],
    ['Expired', status.tooOldResourceVersion(1, 5), { code: 410, message: 'too old resource version: 1 (5)' }],
    ['Expired', status.expired('old', 'token'), { code: 410, metadata: { continue: 'token' } }],
    ['Gone', status.gone('old'), { code: 410 }],
    [
      'InternalError',
      status.internalError('broken'),
      { code: 500, message: 'Internal error occurred: broken', details: { causes: [{ message: 'broken' }] } },
    ],
    [
      'StorageReadError',
      status.storageReadError(widgets),
      { code: 500, message: 'failed to read one or more widgets.example.com from the storage' },
    ],
  ])('%s', (reason, error, expected) => {
    expect(error.status).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, ...expected })
    expect(error.message).toBe(error.status.message)
    expect(status.hasReason(error, reason as status.StatusReason)).toBe(true)
  })
})

describe('an Invalid status', () => {
  const kind = { group: 'example.com', kind: 'Widget' }

  it('has a cause for each error', () => {
    const error = status.invalid(kind, 'a', [fieldRequired('spec'), fieldInvalid('', null, 'no')])
    expect(error.status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Widget.example.com "a" is invalid: [spec: Required value, <nil>: Invalid value: null: no]',
      reason: 'Invalid',
      details: {
        name: 'a',
        group: 'example.com',
        kind: 'Widget',
        causes: [
          { reason: 'FieldValueRequired', message: 'Required value', field: 'spec' },
          { reason: 'FieldValueInvalid', message: 'Invalid value: null: no', field: '<nil>' },
        ],
      },
      code: 422,
    })
  })

  it('prints a duplicate error once, but keeps both causes', () => {
    const { status: twice } = status.invalid(kind, '', [fieldRequired('spec'), fieldRequired('spec')])
    expect(twice.message).toBe('Widget.example.com "" is invalid: spec: Required value')
    expect(twice.details?.causes).toHaveLength(2)
    expect(twice.details).not.toHaveProperty('name')
  })

  it('can be without errors, kind and group', () => {
    expect(status.invalid({ group: '', kind: '' }, '', []).status.message).toBe(' "" is invalid')
  })

  it('finds a cause by its reason', () => {
    const error = status.invalid(kind, 'a', [fieldRequired('spec')])
    expect(status.findCause(error, 'FieldValueRequired')?.field).toBe('spec')
    expect(status.findCause(new Error('x'), 'FieldValueRequired')).toBeUndefined()
  })
})

describe('responses with only a code', () => {
  test.each<[number, string, string, string | undefined, string]>([
    [404, '', '', 'NotFound', 'the server could not find the requested resource'],
    [405, '', '', 'MethodNotAllowed', 'the server does not allow this method on the requested resource'],
    [409, 'POST', '', 'AlreadyExists', 'the server reported a conflict'],
    [409, 'PUT', '', 'Conflict', 'the server reported a conflict'],
    [422, '', '', 'Invalid', 'the server rejected our request due to an error in our request'],
    [406, '', '406: Not Acceptable', 'NotAcceptable', '406: Not Acceptable'],
    [415, '', '415: Unsupported Media Type', 'UnsupportedMediaType', '415: Unsupported Media Type'],
    [
      500,
      '',
      'unknown',
      'InternalError',
      'an error on the server ("unknown") has prevented the request from succeeding',
    ],
    [418, '', '', undefined, 'the server responded with the status code 418 but did not return more information'],
  ])('%d', (code, method, given, reason, message) => {
    const answer = status.genericResponse(code, method, given).status
    expect(answer).toMatchObject({ code, message, details: {} })
    expect(answer.reason).toBe(reason)
  })
})

it('omits an empty reason or message', () => {
  expect(status.unclassified('broken').status).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'broken',
    code: 500,
  })
  expect(status.unclassified('').status).not.toHaveProperty('message')
})

it('creates a Success with or without details', () => {
  const details = { name: 'a', group: '', kind: 'configmaps', uid: 'u' }
  expect(status.success(details)).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: 'u' },
  })
  expect(status.success(undefined, 201)).toMatchObject({ code: 201 })
})
