// The Status of the API as plain data, and the error type that carries it. Each reason has a constructor here with its
// code, message and details.

import { quote } from '../go/go-text.js'
import { type GroupKind, type GroupResource, printGroupKind, printGroupResource } from '../group-version.js'
import { omittedText, printUpToLimit } from './error-limit.js'
import { type FieldError, printField, printFieldErrorBody, printFieldErrors } from './field-errors.js'

export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: StatusMetadata
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: StatusReason
  readonly details?: StatusDetails
  readonly code?: number
}

/** Empty, except that an expired list has a token to continue with. */
export interface StatusMetadata {
  readonly continue?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  /** The resource if the error is about one; the kind if it is about the content of an object. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export type StatusReason =
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'StorageReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnsupportedMediaType'

/** The error type of the API: thrown where the error is found, answered with its Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError'

  constructor(
    readonly status: Status,
    options?: ErrorOptions,
  ) {
    super(status.message ?? '', options)
  }
}

export const hasReason = (error: unknown, reason: StatusReason): error is StatusError =>
  error instanceof StatusError && error.status.reason === reason

/** The first cause of that reason, if the error has one. */
export const findCause = (error: unknown, reason: string): StatusCause | undefined =>
  error instanceof StatusError ? error.status.details?.causes?.find(cause => cause.reason === reason) : undefined

/** The response to a delete that has no object to return. */
export const success = (details?: StatusDetails, code?: number): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...(details === undefined ? {} : { details: withoutEmpty(details) }),
  ...(code === undefined ? {} : { code }),
})

// ---- existence of objects

export const notFound = (resource: GroupResource, name: string): StatusError =>
  fail(404, 'NotFound', `${printGroupResource(resource)} ${quote(name)} not found`, about(resource, name))

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  fail(409, 'AlreadyExists', `${printGroupResource(resource)} ${quote(name)} already exists`, about(resource, name))

/** A create of an object that is being deleted and waits for its finalizers. */
export const beingDeleted = (resource: GroupResource, name: string): StatusError =>
  fail(
    409,
    'AlreadyExists',
    `object is being deleted: ${printGroupResource(resource)} ${quote(name)} already exists`,
    about(resource, name),
  )

/** All generated names were taken. */
export const generatedNameTaken = (resource: GroupResource, name: string): StatusError =>
  fail(
    409,
    'AlreadyExists',
    `${printGroupResource(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    { ...about(resource, name), retryAfterSeconds: 1 },
  )

export const conflict = (resource: GroupResource, name: string, why: string): StatusError =>
  fail(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${printGroupResource(resource)} ${quote(name)}: ${why}`,
    about(resource, name),
  )

/** A write against an older version of the object. */
export const modifiedMeanwhile = (resource: GroupResource, name: string): StatusError =>
  conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )

/** Fields that other managers own, one cause each. */
export const applyConflict = (message: string, causes: readonly StatusCause[]): StatusError =>
  fail(409, 'Conflict', message, { causes })

// ---- invalid content

/** Each error is a cause; the message has each text once. */
export function invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const title = `${printGroupKind(kind)} ${quote(name)} is invalid`
  return fail(422, 'Invalid', errors.length === 0 ? title : `${title}: ${printFieldErrors(errors)}`, {
    name,
    group: kind.group,
    kind: kind.kind,
    causes: causesOf(errors),
  })
}

function causesOf(errors: readonly FieldError[]): readonly StatusCause[] {
  const { printed, omitted } = printUpToLimit(errors, causeOf, lengthOf)
  return omitted > 0 ? [...printed, { reason: 'FieldValueTooMany', message: omittedText(omitted) }] : printed
}

const lengthOf = ({ field = '', message = '' }: StatusCause): number => field.length + message.length

export const causeOf = (error: FieldError): StatusCause => ({
  reason: error.type,
  message: printFieldErrorBody(error),
  field: printField(error),
})

export const badRequest = (message: string): StatusError => fail(400, 'BadRequest', message)

/** A body whose stated kind cannot be decoded as the kind of the request. */
export const cannotHandle = (kind: string, version: string, as: string, why: string): StatusError =>
  new StatusError(badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${as}: ${why}`).status, {
    cause: why,
  })

/** `what` is the limit: `limit is 3145728`. */
export const requestEntityTooLarge = (what: string): StatusError =>
  fail(413, 'RequestEntityTooLarge', `Request entity too large: ${what}`)

/** The API has no reason of its own for it. */
export const requestHeadersTooLarge = (what: string): StatusError =>
  fail(431, undefined, `Request header fields too large: ${what}`)

// ---- authentication and authorization

export const unauthorized = (message = 'Unauthorized'): StatusError => fail(401, 'Unauthorized', message)

/** Without a resource, as for a path outside the API: `forbidden: …`. */
export function forbidden(resource: GroupResource, name: string, why: string): StatusError {
  const what = printGroupResource(resource)
  const named = name === '' ? what : `${what} ${quote(name)}`
  return fail(
    403,
    'Forbidden',
    what === '' ? `forbidden: ${why}` : `${named} is forbidden: ${why}`,
    about(resource, name),
  )
}

/** A create in a namespace that is being deleted. */
export function namespaceTerminating(resource: GroupResource, name: string, namespace: string): StatusError {
  const error = forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  return withCause(error, {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  })
}

/** The error with a cause that programs can recognize. */
export const withCause = ({ status }: StatusError, cause: StatusCause): StatusError =>
  new StatusError({ ...status, details: { ...status.details, causes: [cause] } })

// ---- capabilities of the server

/** `action` is the verb; empty for methods that are not a verb. */
export const methodNotSupported = (resource: GroupResource, action: string): StatusError =>
  fail(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${quote(printGroupResource(resource))}`,
    about(resource, ''),
  )

export const notAcceptable = (message: string): StatusError => fail(406, 'NotAcceptable', message)

/** None of the media types in the Accept header can be served. */
export const noneAcceptable = (served: readonly string[]): StatusError =>
  notAcceptable(`only the following media types are accepted: ${served.join(', ')}`)

/** The media type of the body is not supported. */
export const unsupportedMediaType = (read: readonly string[]): StatusError =>
  fail(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${read.join(', ')}`,
  )

// ---- time limits and load

export const tooManyRequests = (
  message: string,
  retryAfterSeconds?: number,
  causes?: readonly StatusCause[],
): StatusError =>
  fail(429, 'TooManyRequests', message, {
    ...(causes === undefined ? {} : { causes }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })

export const serviceUnavailable = (message: string, retryAfterSeconds?: number): StatusError =>
  fail(503, 'ServiceUnavailable', message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds })

/** The request may still be running. */
export const timeout = (message: string, retryAfterSeconds = 0): StatusError =>
  fail(504, 'Timeout', `Timeout: ${message}`, { retryAfterSeconds })

/** The operation was not done and may be tried again. */
export const serverTimeout = (resource: GroupResource, operation: string, retryAfterSeconds: number): StatusError =>
  fail(
    500,
    'ServerTimeout',
    `The ${operation} operation against ${printGroupResource(resource)} could not be completed at this time, please try again.`,
    { ...about(resource, operation), retryAfterSeconds },
  )

/** A read at a future resourceVersion. */
export const tooLargeResourceVersion = (requested: number | bigint, current: number | bigint): StatusError =>
  fail(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })

// ---- compacted history

/** `continueToken` allows the client to continue with an inconsistent list. */
export const expired = (message: string, continueToken?: string): StatusError =>
  fail(410, 'Expired', message, undefined, continueToken === undefined ? {} : { continue: continueToken })

/** A watch from a compacted resourceVersion. */
export const tooOldResourceVersion = (requested: number | bigint, oldest: number | bigint): StatusError =>
  expired(`too old resource version: ${requested} (${oldest})`)

export const gone = (message: string): StatusError => fail(410, 'Gone', message)

// ---- errors of the server

export const internalError = (why: string): StatusError =>
  fail(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })

/** A list with stored objects that cannot be decoded; one cause for each. */
export const storageReadError = (resource: GroupResource, causes: readonly StatusCause[] = []): StatusError =>
  fail(500, 'StorageReadError', `failed to read one or more ${printGroupResource(resource)} from the storage`, {
    ...about(resource, ''),
    causes,
  })

/** An error without a reason: only a code and a message. */
export const unclassified = (message: string, code = 500): StatusError => fail(code, undefined, message)

/**
 * The error for a response that has only a code, such as one from a server that is not an API server.
 * `method` distinguishes a conflict of a POST from others.
 */
export function genericResponse(code: number, method = '', serverMessage = ''): StatusError {
  const generic = GENERIC_RESPONSES[code]
  if (generic !== undefined) {
    const [reason, text] = generic
    const keepsText =
      code === 403 || code === 415 || (code === 406 && serverMessage !== '' && serverMessage !== 'unknown')
    return fail(
      code,
      code === 409 && method.toUpperCase() === 'POST' ? 'AlreadyExists' : reason,
      keepsText ? serverMessage : text,
      {},
    )
  }
  return code >= 500
    ? fail(
        code,
        'InternalError',
        `an error on the server (${quote(serverMessage)}) has prevented the request from succeeding`,
        {},
      )
    : fail(code, undefined, `the server responded with the status code ${code} but did not return more information`, {})
}

const GENERIC_RESPONSES: Readonly<Record<number, readonly [StatusReason, string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', ''],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable', 'the server was unable to respond with a content type that the client supports'],
  409: ['Conflict', 'the server reported a conflict'],
  415: ['UnsupportedMediaType', ''],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
}

// ---- construction

function fail(
  code: number,
  reason: StatusReason | undefined,
  message: string,
  details?: StatusDetails,
  metadata: StatusMetadata = {},
): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    ...(message === '' ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details: withoutEmpty(details) }),
    code,
  })
}

const about = ({ group, resource }: GroupResource, name: string): StatusDetails => ({ name, group, kind: resource })

/** Empty members are omitted; the rest is in the order in which kube-apiserver writes them. */
function withoutEmpty({ name, group, kind, uid, causes, retryAfterSeconds }: StatusDetails): StatusDetails {
  return {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(kind ? { kind } : {}),
    ...(uid ? { uid } : {}),
    ...(causes?.length ? { causes } : {}),
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  }
}
