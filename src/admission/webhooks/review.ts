// AdmissionReview: the request to a webhook, and its response with every check that kube-apiserver makes.

import { CodecError } from '../../codec/codec-error.js'
import { encodeJson } from '../../codec/json.js'
import { decodeRecognized, isJson } from '../../codec/recognized.js'
import { type Status, StatusError } from '../../meta/errors/status.js'
import { jsonTypeOf, quote } from '../../meta/go/go-text.js'
import { groupVersionKind, parseGroupVersion, printGroupVersionKind } from '../../meta/group-version.js'
import { canonicalBase64 } from '../../meta/values/base64.js'
import {
  getOwn,
  isInteger,
  isNumber,
  isObject,
  spellNumber,
  type Value,
  type ValueObject,
} from '../../meta/values/value.js'
import type { Attributes, VersionedObjects } from '../attributes.js'
import { admissionRequest, type MatchedResource } from '../expressions/admission-request.js'

export type ReviewVersion = 'v1' | 'v1beta1'

const KIND = 'AdmissionReview'
const GROUP = 'admission.k8s.io'

/** The first supported version; webhooks list theirs in order of preference. */
export const reviewVersionOf = (versions: readonly string[]): ReviewVersion | undefined =>
  versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1')

/** The request without its uid, encoded; the same for all webhooks that match the same version of the resource. */
export const encodeRequest = (
  attributes: Attributes,
  matched: MatchedResource,
  { object, oldObject }: VersionedObjects,
): string =>
  encodeJson({ ...admissionRequest(attributes, matched), object: object ?? null, oldObject: oldObject ?? null })

/** `request`: as `encodeRequest` gives it. */
export const encodeReview = (version: ReviewVersion, uid: string, request: string): string =>
  `{"kind":"${KIND}","apiVersion":"${GROUP}/${version}","request":{"uid":"${uid}",${request.slice(1)}}`

export interface AdmissionResponse {
  readonly allowed: boolean
  /** Why it is not allowed; undefined if the webhook does not say. */
  readonly result: ValueObject | undefined
  /** A JSON patch; empty if nothing changes. */
  readonly patch: Buffer
  readonly patchType: string
  readonly auditAnnotations: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** A response that cannot be decoded. */
export class UndecodableReview extends Error {}
/** A response that is decoded and not acceptable. */
export class InvalidReview extends Error {}

/** Throws an UndecodableReview or an InvalidReview. */
export function readReview(version: ReviewVersion, uid: string, isMutating: boolean, body: Buffer): AdmissionResponse {
  const review = decodeReview(version, body)
  const response = memberOf(review, 'response', 'object', [KIND, ''])
  if (!response) throw new InvalidReview('webhook response was absent')
  const field = <T extends keyof GoTypes>(name: string, type: T): GoTypes[T] | undefined =>
    memberOf(response, name, type, ['AdmissionResponse', 'response.'])
  const result = field('status', 'object')
  const given = {
    uid: field('uid', 'types.UID') ?? '',
    allowed: field('allowed', 'bool') ?? false,
    result: result && checkedStatus(result),
    patch: patchOf(getOwn(response, 'patch') ?? null, () => field('patch', '[]uint8')),
    patchType: field('patchType', PATCH_TYPES[version]),
    auditAnnotations: field('auditAnnotations', 'map[string]string') ?? {},
    warnings: field('warnings', '[]string') ?? [],
  }
  // In v1beta1, neither the uid nor the types are checked.
  if (version === 'v1') checkResponse(review, uid, given, isMutating)
  const patch = isMutating ? given.patch : NO_PATCH
  const patchType = version === 'v1' ? (given.patchType ?? '') : patch.length > 0 ? 'JSONPatch' : ''
  return { ...given, patch, patchType }
}

const NO_PATCH = Buffer.alloc(0)
const PATCH_TYPES = { v1: 'v1.PatchType', v1beta1: 'v1beta1.PatchType' } as const

function checkResponse(
  review: ValueObject,
  uid: string,
  given: { readonly uid: string; readonly patch: Buffer; readonly patchType: string | undefined },
  isMutating: boolean,
): void {
  const refuse = (why: string): never => {
    throw new InvalidReview(why)
  }
  const { patch, patchType } = given
  if (given.uid !== uid) refuse(`expected response.uid=${quote(uid)}, got ${quote(given.uid)}`)
  const [apiVersion, kind] = [typeMember(review, 'apiVersion'), typeMember(review, 'kind')]
  if (apiVersion !== `${GROUP}/v1` || kind !== KIND) {
    const print = (...of: Parameters<typeof groupVersionKind>): string => printGroupVersionKind(groupVersionKind(...of))
    refuse(`expected webhook response of ${print(`${GROUP}/v1`, KIND)}, got ${print(apiVersion, kind)}`)
  }
  if (isMutating) {
    if (patch.length > 0 && patchType === undefined)
      refuse('webhook returned response.patch but not response.patchType')
    if (patch.length === 0 && patchType !== undefined)
      refuse('webhook returned response.patchType but not response.patch')
    if (patchType === '') refuse('webhook returned invalid response.patchType of ""')
  } else {
    if (patch.length > 0) refuse('validating webhook may not return response.patch')
    if (patchType !== undefined) refuse('validating webhook may not return response.patchType')
  }
}

// ---- decoding

/** kube-apiserver's name of the scheme that decodes reviews. */
const SCHEME = 'pkg/util/webhook/client.go:71'

/** Other kinds that its decoder knows, by their apiVersion. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  [`${GROUP}/v1`]: KIND,
  [`${GROUP}/v1beta1`]: KIND,
  v1: 'Status',
}

function decodeReview(version: ReviewVersion, body: Buffer): ValueObject {
  const review = decodeObject(body)
  const apiVersion = typeMember(review, 'apiVersion') || `${GROUP}/${version}`
  const kind = typeMember(review, 'kind') || KIND
  const given = parseGroupVersion(apiVersion)
  if (!given.ok) throw new UndecodableReview(given.error)
  if (apiVersion === `${GROUP}/${version}` && kind === KIND) return review
  throw new UndecodableReview(
    OTHER_KINDS[apiVersion] === kind
      ? `converting (${given.value.version}.${kind}) to (${version}.${KIND}): unknown conversion`
      : `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(SCHEME)}`,
  )
}

const NO_TYPE = "couldn't get version/kind; json parse error: "

function decodeObject(body: Buffer): ValueObject {
  try {
    const { value } = decodeRecognized(body)
    if (isObject(value)) return value
    if (value === null) return {}
    const struct =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    throw new UndecodableReview(`${NO_TYPE}json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${struct}`)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new UndecodableReview(isJson(body) ? `${NO_TYPE}${error.message}` : error.message)
  }
}

function typeMember(review: ValueObject, name: string): string {
  const value = getOwn(review, name) ?? ''
  if (typeof value === 'string') return value
  throw new UndecodableReview(
    `${NO_TYPE}json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${name} of type string`,
  )
}

/** Go's types of members, with the types that they have here. */
interface GoTypes {
  string: string
  'types.UID': string
  'v1.PatchType': string
  'v1beta1.PatchType': string
  'v1.StatusReason': string
  'v1.CauseType': string
  bool: boolean
  int32: number
  int64: number | bigint
  '[]uint8': string
  '[]string': string[]
  '[]v1.StatusCause': ValueObject[]
  'map[string]string': Record<string, string>
  object: ValueObject
}

/** A member of a Go struct; undefined if it is absent or null. */
function memberOf<T extends keyof GoTypes>(
  object: ValueObject,
  name: string,
  type: T,
  [struct, path]: readonly [struct: string, path: string],
): GoTypes[T] | undefined {
  const value = getOwn(object, name) ?? null
  if (value === null) return undefined
  const refuse = (found: Value, goType: string = type): never => {
    throw new UndecodableReview(
      `json: cannot unmarshal ${INTEGERS.has(goType) ? printFound(found) : jsonTypeOf(found)} into Go struct field ${struct}.${path}${name} of type ${goType}`,
    )
  }
  const texts = (items: readonly Value[]): void => {
    for (const item of items) if (item !== null && typeof item !== 'string') refuse(item, 'string')
  }
  switch (type) {
    case 'bool':
      if (typeof value !== 'boolean') refuse(value)
      break
    case 'int32':
      if (!isInteger(value) || value > 2 ** 31 - 1 || value < -(2 ** 31)) refuse(value)
      break
    case 'int64':
      if (!isInteger(value)) refuse(value)
      break
    case 'object':
      if (!isObject(value)) refuse(value, GO_STRUCTS[name] ?? 'struct')
      break
    case '[]string':
      if (!Array.isArray(value)) return refuse(value)
      texts(value)
      return value.map(item => item ?? '') as GoTypes[T]
    case '[]v1.StatusCause':
      if (!Array.isArray(value)) return refuse(value)
      for (const item of value) if (item !== null && !isObject(item)) refuse(item, 'v1.StatusCause')
      return value.map(item => item ?? {}) as GoTypes[T]
    case 'map[string]string':
      if (!isObject(value)) return refuse(value)
      texts(Object.values(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, item ?? ''])) as GoTypes[T]
    default:
      if (typeof value !== 'string') refuse(value)
  }
  return value as GoTypes[T]
}

const INTEGERS: ReadonlySet<string> = new Set(['int32', 'int64'])

/** Where an integer is expected, Go shows which number was found. */
const printFound = (value: Value): string => (isNumber(value) ? `number ${spellNumber(value)}` : jsonTypeOf(value))

const GO_STRUCTS: Readonly<Record<string, string>> = {
  response: 'v1.AdmissionResponse',
  status: 'v1.Status',
  details: 'v1.StatusDetails',
  metadata: 'v1.ListMeta',
}

/** Base64, or a list of bytes, which Go accepts too. */
function patchOf(given: Value, readText: () => string | undefined): Buffer {
  if (Array.isArray(given)) return bytesOf(given)
  const text = readText()
  if (text === undefined) return NO_PATCH
  const decoded = canonicalBase64(text)
  if (!decoded.ok) throw new UndecodableReview(decoded.error)
  return Buffer.from(decoded.value, 'base64')
}

function bytesOf(items: readonly Value[]): Buffer {
  const other = items.find(item => item !== null && !(isInteger(item) && item >= 0 && item <= 255))
  if (other === undefined) return Buffer.from(items.map(Number))
  throw new UndecodableReview(
    `json: cannot unmarshal ${printFound(other)} into Go struct field AdmissionResponse.response.patch of type uint8`,
  )
}

// ---- refusals

/** The members of a Status, each of its type; others are dropped. */
function checkedStatus(status: ValueObject): ValueObject {
  const at = ['Status', 'response.status.'] as const
  const details = memberOf(status, 'details', 'object', at)
  return withoutAbsent({
    status: memberOf(status, 'status', 'string', at),
    message: memberOf(status, 'message', 'string', at),
    reason: memberOf(status, 'reason', 'v1.StatusReason', at),
    details: details && checkedDetails(details),
    code: memberOf(status, 'code', 'int32', at),
    metadata: checkedListMeta(memberOf(status, 'metadata', 'object', at) ?? {}),
  })
}

function checkedListMeta(meta: ValueObject): ValueObject {
  const at = ['ListMeta', 'response.status.metadata.'] as const
  return withoutAbsent({
    selfLink: memberOf(meta, 'selfLink', 'string', at) || undefined,
    resourceVersion: memberOf(meta, 'resourceVersion', 'string', at) || undefined,
    continue: memberOf(meta, 'continue', 'string', at) || undefined,
    remainingItemCount: memberOf(meta, 'remainingItemCount', 'int64', at),
  })
}

function checkedDetails(details: ValueObject): ValueObject {
  const at = ['StatusDetails', 'response.status.details.'] as const
  const causes = memberOf(details, 'causes', '[]v1.StatusCause', at) ?? []
  const inCause = ['StatusCause', 'response.status.details.causes.'] as const
  return withoutAbsent({
    name: memberOf(details, 'name', 'string', at) || undefined,
    group: memberOf(details, 'group', 'string', at) || undefined,
    kind: memberOf(details, 'kind', 'string', at) || undefined,
    uid: memberOf(details, 'uid', 'types.UID', at) || undefined,
    causes:
      causes.length > 0
        ? causes.map(cause =>
            withoutAbsent({
              reason: memberOf(cause, 'reason', 'v1.CauseType', inCause) || undefined,
              message: memberOf(cause, 'message', 'string', inCause) || undefined,
              field: memberOf(cause, 'field', 'string', inCause) || undefined,
            }),
          )
        : undefined,
    retryAfterSeconds: memberOf(details, 'retryAfterSeconds', 'int32', at) || undefined,
  })
}

const withoutAbsent = (members: Readonly<Record<string, Value | undefined>>): ValueObject =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Value] => entry[1] !== undefined))

const objectIn = (result: ValueObject, name: string): ValueObject => {
  const value = getOwn(result, name)
  return isObject(value) ? value : {}
}

/** The highest code that http can send. */
const MAX_CODE = 999

/** The Status with which the request is refused: that of a webhook or a function, which is never a success. */
export function refusalBy(by: string, result: ValueObject | undefined = {}): StatusError {
  const deniedBy = `${by} denied the request`
  const text = (name: string): string => {
    const value = getOwn(result, name)
    return typeof value === 'string' ? value : ''
  }
  const why = text('message') || text('reason')
  const { code = 0 } = result as { readonly code?: number }
  const status = text('status')
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: objectIn(result, 'metadata'),
    status: (status === '' || status === 'Success' ? 'Failure' : status) as Status['status'],
    message: why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
    ...(text('reason') !== '' && { reason: text('reason') as NonNullable<Status['reason']> }),
    ...('details' in result && { details: result['details'] as NonNullable<Status['details']> }),
    code: Math.min(Math.max(code, 400), MAX_CODE),
  })
}
