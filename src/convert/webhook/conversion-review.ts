// ConversionReview: the request to a conversion webhook, and its response.
import { decodeExpected, typeMember } from '../../codec/expected-kind.js'
import { goList, goStatus, goStruct, goText, readStruct } from '../../codec/go-struct.js'
import { quote } from '../../meta/go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../../meta/group-version.js'
import type { Value, ValueObject } from '../../meta/values/value.js'

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

/** The converted objects of a response, which are not checked yet. Throws a ReviewError or a GoStructError. */
export function readReview(version: ReviewVersion, uid: string, answer: Buffer): readonly Value[] {
  const review = decodeExpected(answer, { apiVersion: apiVersionOf(version), kind: KIND, known: KNOWN_KINDS })
  const { response } = readStruct(review, KIND, { response: readResponse })
  // In v1beta1, responses need not have a type.
  if (version === 'v1') checkType(review)
  if (!response) throw new ReviewError('no response provided')
  const given = response.uid ?? ''
  // In v1beta1, responses need not have the uid of the request.
  if (version === 'v1' && given !== uid) {
    throw new ReviewError(`expected response.uid=${quote(uid)}, got ${quote(given)}`)
  }
  const { status = '', message = '' } = response.result ?? {}
  if (status !== 'Success') {
    throw new ReviewError(message || `response.result.status was '${status}', not 'Success'`)
  }
  return response.convertedObjects ?? []
}

const KINDS = [KIND, 'CustomResourceDefinition', 'CustomResourceDefinitionList']
const KNOWN_KINDS = { [apiVersionOf('v1')]: KINDS, [apiVersionOf('v1beta1')]: KINDS, v1: ['Status'] }

const readResponse = goStruct('v1.ConversionResponse', {
  uid: goText('types.UID'),
  convertedObjects: goList<Value>('[]runtime.RawExtension', value => value, null),
  result: goStatus,
})

function checkType(review: ValueObject): void {
  const [apiVersion, kind] = [typeMember(review, 'apiVersion'), typeMember(review, 'kind')]
  if (apiVersion === apiVersionOf('v1') && kind === KIND) return
  const print = (...of: Parameters<typeof groupVersionKind>): string => printGroupVersionKind(groupVersionKind(...of))
  throw new ReviewError(
    `expected webhook response of ${print(apiVersionOf('v1'), KIND)}, got ${print(apiVersion, kind)}`,
  )
}
