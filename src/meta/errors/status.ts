// The answer of the API to everything that did not go as asked: a Status, as plain data, and the one error type that
// carries it. Each reason has a constructor here that knows its code, its wording and its details.

import { quote } from '../go/go-text.js'
import { type GroupKind, type GroupResource, printGroupKind, printGroupResource } from '../group-version.js'
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

/** Empty, except that an expired list may say how to go on. */
export interface StatusMetadata {
  readonly continue?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  /** The resource, where the fault is about one; the kind, where it is about an object's content. */
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

/** The one error of the API: thrown from where the fault is known, answered as the Status that it carries. */
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

/** The answer to a delete that left nothing behind to show. */
export const success = (details?: StatusDetails, code?: number): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...(details === undefined ? {} : { details: withoutEmpty(details) }),
  ...(code === undefined ? {} : { code }),
})

// ---- objects that are there, or not

export const notFound = (resource: GroupResource, name: string): StatusError =>
  fail(404, 'NotFound', `${printGroupResource(resource)} ${quote(name)} not found`, about(resource, name))

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  fail(409, 'AlreadyExists', `${printGroupResource(resource)} ${quote(name)} already exists`, about(resource, name))

/** Creating what still waits for its finalizers. */
export const beingDeleted = (resource: GroupResource, name: string): StatusError =>
  fail(
    409,
    'AlreadyExists',
    `object is being deleted: ${printGroupResource(resource)} ${quote(name)} already exists`,
    about(resource, name),
  )

/** Every name that generateName gave was taken. */
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

/** A write that was made against an older state of the object. */
export const modifiedMeanwhile = (resource: GroupResource, name: string): StatusError =>
  conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )

/** Fields that other managers own, one cause each. */
export const applyConflict = (message: string, causes: readonly StatusCause[]): StatusError =>
  fail(409, 'Conflict', message, { causes })

// ---- content that is not as it must be

/** Every fault is a cause; the message says each once. */
export function invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const title = `${printGroupKind(kind)} ${quote(name)} is invalid`
  return fail(422, 'Invalid', errors.length === 0 ? title : `${title}: ${printFieldErrors(errors)}`, {
    name,
    group: kind.group,
    kind: kind.kind,
    causes: errors.map(causeOf),
  })
}

export const causeOf = (error: FieldError): StatusCause => ({
  reason: error.type,
  message: printFieldErrorBody(error),
  field: printField(error),
})

export const badRequest = (message: string): StatusError => fail(400, 'BadRequest', message)

/** A body that says it is one thing and cannot be read as what the request is about. */
export const cannotHandle = (kind: string, version: string, as: string, why: string): StatusError =>
  new StatusError(badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${as}: ${why}`).status, {
    cause: why,
  })

/** `what` says the limit: `limit is 3145728`. */
export const requestEntityTooLarge = (what: string): StatusError =>
  fail(413, 'RequestEntityTooLarge', `Request entity too large: ${what}`)

// ---- who may do what

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

/** A namespace on its way out takes nothing in. */
export function namespaceTerminating(resource: GroupResource, name: string, namespace: string): StatusError {
  const { status } = forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new StatusError({ ...status, details: { ...status.details, causes: [cause] } })
}

// ---- what the server can do

/** `action` is the verb; the server leaves it empty for methods that are no verb. */
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

/** The body is in a media type that is not read here. */
export const unsupportedMediaType = (read: readonly string[]): StatusError =>
  fail(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${read.join(', ')}`,
  )

// ---- time

export const tooManyRequests = (
  message: string,
  retryAfterSeconds?: number,
  causes?: readonly StatusCause[],
): StatusError =>
  fail(429, 'TooManyRequests', message, {
    ...(causes === undefined ? {} : { causes }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })

export const serviceUnavailable = (message: string): StatusError => fail(503, 'ServiceUnavailable', message)

/** The request may still be under way. */
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

/** A read at a resourceVersion that has not happened yet. */
export const tooLargeResourceVersion = (requested: number | bigint, current: number | bigint): StatusError =>
  fail(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })

// ---- history that is gone

/** `continueToken` lets the client go on with a list that is no longer consistent. */
export const expired = (message: string, continueToken?: string): StatusError =>
  fail(410, 'Expired', message, undefined, continueToken === undefined ? {} : { continue: continueToken })

/** A watch from before what history holds. */
export const tooOldResourceVersion = (requested: number | bigint, oldest: number | bigint): StatusError =>
  expired(`too old resource version: ${requested} (${oldest})`)

export const gone = (message: string): StatusError => fail(410, 'Gone', message)

// ---- our own faults

export const internalError = (why: string): StatusError =>
  fail(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })

/** A list that meets objects in storage that cannot be read any more; one cause for each. */
export const storageReadError = (resource: GroupResource, causes: readonly StatusCause[] = []): StatusError =>
  fail(500, 'StorageReadError', `failed to read one or more ${printGroupResource(resource)} from the storage`, {
    ...about(resource, ''),
    causes,
  })

/** A fault that has no reason of its own: only its code and what went wrong. */
export const unclassified = (message: string, code = 500): StatusError => fail(code, undefined, message)

/**
 * What is said of an answer that tells nothing but its code, such as one from a server that is no API server.
 * `method` tells a conflict of a POST from others.
 */
export function genericResponse(code: number, method = '', serverMessage = ''): StatusError {
  const known = GENERIC_RESPONSES[code]
  if (known !== undefined) {
    const [reason, text] = known
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

// ---- the shape

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

/** What is empty is not written at all; the members come in the order in which the reference server writes them. */
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
