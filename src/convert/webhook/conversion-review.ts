// ConversionReview: the request to a conversion webhook, and its response.
import { CodecError } from '../../codec/codec-error.js'
import { decodeJson } from '../../codec/json.js'
import { quote } from '../../meta/go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../../meta/group-version.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'

export type ReviewVersion = 'v1' | 'v1beta1'

const KIND = 'ConversionReview'
const apiVersionOf = (version: ReviewVersion): string => `apiextensions.k8s.io/${version}`

/** The first supported version; webhooks list theirs in order of preference. */
export const reviewVersionOf = (versions: readonly string[]): ReviewVersion | undefined =>
  versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1')

/** `objects` are encoded as JSON. */
export const encodeReview = (version: ReviewVersion, uid: string, to: string, objects: readonly string[]): string => {
  const head = JSON.stringify({ kind: KIND, apiVersion: apiVersionOf(version) }).slice(0, -1)
  return `${head},"request":{"uid":"${uid}","desiredAPIVersion":${JSON.stringify(to)},"objects":[${objects.join(',')}]}}`
}

/** A response that is not acceptable. */
export class ReviewError extends Error {}

/** The converted objects of a response, which are not checked yet. Throws a ReviewError. */
export function readReview(version: ReviewVersion, uid: string, answer: Buffer): readonly Value[] {
  const review = decodeReview(version, answer)
  const response = getOwn(review, 'response')
  if (!isObject(response)) throw new ReviewError('no response provided')
  const given = textIn(response, 'uid')
  // In v1beta1, responses need not have the uid of the request.
  if (version === 'v1' && given !== uid) {
    throw new ReviewError(`expected response.uid=${quote(uid)}, got ${quote(given)}`)
  }
  const result = getOwn(response, 'result') ?? {}
  const status = isObject(result) ? textIn(result, 'status') : ''
  if (status !== 'Success') {
    const message = isObject(result) ? textIn(result, 'message') : ''
    throw new ReviewError(message || `response.result.status was '${status}', not 'Success'`)
  }
  const objects = getOwn(response, 'convertedObjects') ?? []
  return Array.isArray(objects) ? objects : []
}

function decodeReview(version: ReviewVersion, answer: Buffer): ValueObject {
  const review = decode(answer)
  const apiVersion = textIn(review, 'apiVersion')
  const kind = textIn(review, 'kind')
  if (apiVersion === apiVersionOf(version) && kind === KIND) return review
  // In v1beta1, responses need not have a type, but it must be right if present.
  if (version === 'v1beta1' && apiVersion === '' && kind === '') return review
  const print = (...of: Parameters<typeof groupVersionKind>): string => printGroupVersionKind(groupVersionKind(...of))
  throw new ReviewError(
    `expected webhook response of ${print(apiVersionOf(version), KIND)}, got ${print(apiVersion, kind)}`,
  )
}

function decode(answer: Buffer): ValueObject {
  try {
    const { value } = decodeJson(answer)
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new ReviewError(`couldn't get version/kind; json parse error: ${error.message}`)
  }
  throw new ReviewError(`the answer is no ${KIND}`)
}

function textIn(object: ValueObject, field: string): string {
  const value = getOwn(object, field)
  return typeof value === 'string' ? value : ''
}
