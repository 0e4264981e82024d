// AdmissionReview: the request to a webhook, and its response with every check that kube-apiserver makes.

import { decodeExpected, typeMember } from '../../codec/expected-kind.js'
import {
  type GoField,
  type GoReader,
  GoStructError,
  goBool,
  goStatus,
  goStruct,
  goText,
  goTextMap,
  goTexts,
  goTypeError,
  readStruct,
} from '../../codec/go-struct.js'
import { encodeJson } from '../../codec/json.js'
import { type Status, StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../../meta/group-version.js'
import { canonicalBase64 } from '../../meta/values/base64.js'
import { getOwn, isInteger, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
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

/** A response that is decoded and not acceptable. */
export class InvalidReview extends Error {}

/** Throws a GoStructError or an InvalidReview. */
export function readReview(version: ReviewVersion, uid: string, isMutating: boolean, body: Buffer): AdmissionResponse {
  const expected = { apiVersion: `${GROUP}/${version}`, kind: KIND, known: KNOWN_KINDS }
  const review = decodeExpected(body, expected)
  const { response } = readStruct(review, KIND, { response: READERS[version] })
  if (!response) throw new InvalidReview('webhook response was absent')
  const { patchType, status } = response
  const given = {
    uid: response.uid ?? '',
    allowed: response.allowed ?? false,
    result: status && { ...status, metadata: status.metadata ?? {} },
    patch: response.patch ?? NO_PATCH,
    patchType,
    auditAnnotations: response.auditAnnotations ?? {},
    warnings: response.warnings ?? [],
  }
  // In v1beta1, neither the uid nor the types are checked.
  if (version === 'v1') checkResponse(review, uid, given, isMutating)
  const patch = isMutating ? given.patch : NO_PATCH
  const type = version === 'v1' ? (patchType ?? '') : patch.length > 0 ? 'JSONPatch' : ''
  return { ...given, patch, patchType: type }
}

const NO_PATCH = Buffer.alloc(0)

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

const KNOWN_KINDS = { [`${GROUP}/v1`]: [KIND], [`${GROUP}/v1beta1`]: [KIND], v1: ['Status'] }

/** Base64, or a list of bytes, which Go accepts too. */
const readPatch: GoReader<Buffer> = (value, field) => {
  if (Array.isArray(value)) return bytesOf(value, field)
  const decoded = canonicalBase64(goText('[]uint8')(value, field))
  if (!decoded.ok) throw new GoStructError(decoded.error)
  return Buffer.from(decoded.value, 'base64')
}

function bytesOf(items: readonly Value[], field: GoField): Buffer {
  const other = items.find(item => item !== null && !(isInteger(item) && item >= 0 && item <= 255))
  if (other !== undefined) throw goTypeError(other, field, 'uint8')
  return Buffer.from(items.map(Number))
}

const responseReader = (version: ReviewVersion) =>
  goStruct(`${version}.AdmissionResponse`, {
    uid: goText('types.UID'),
    allowed: goBool,
    status: goStatus,
    patch: readPatch,
    patchType: goText(`${version}.PatchType`),
    auditAnnotations: goTextMap,
    warnings: goTexts,
  })

const READERS = { v1: responseReader('v1'), v1beta1: responseReader('v1beta1') }

// ---- refusals

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
