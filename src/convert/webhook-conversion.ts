// Conversion by a webhook: objects that are converted together are sent in one call, up to a limit on their number and
// size.
import { randomUUID } from 'node:crypto'
import type { Cancellation } from '../base/cancellation.js'
import { traced } from '../base/tracing/span.js'
import { GoStructError } from '../codec/go-struct.js'
import { encodeJson } from '../codec/json.js'
import { StatusError, unclassified } from '../meta/errors/status.js'
import { jsonTypeOf } from '../meta/go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../meta/group-version.js'
import { getOwn, isObject, type Value } from '../meta/values/value.js'
import type { Webhooks } from '../webhook/client.js'
import type { ClientConfig } from '../webhook/client-config.js'
import { WebhookError } from '../webhook/webhook-error.js'
import type { ConvertObjects, VersionedObject } from './conversion.js'
import { encodeReview, ReviewError, readReview, reviewVersionOf } from './webhook/conversion-review.js'
import { checkConverted } from './webhook/converted-object.js'

export interface ConversionWebhook {
  readonly clientConfig: ClientConfig
  /** In order of preference. */
  readonly conversionReviewVersions: readonly string[]
}

const TIMEOUT_MS = 30_000
/** The maximum of one call, except for a single larger object. */
const MAX_OBJECTS = 500
const MAX_LENGTH = 8 * 1024 * 1024
/** The number of concurrent calls to a webhook that converts only one object per call. */
const MAX_CONCURRENT = 16

export function convertByWebhook(webhooks: Webhooks, webhook: ConversionWebhook): ConvertObjects {
  const version = reviewVersionOf(webhook.conversionReviewVersions)

  /**
   * kube-apiserver rarely sends more than one object per call, and some webhooks cannot convert several: those are sent one
   * object at a time. A webhook that fails for a single object too is broken; of further batches a single object is tried first. What is known
   * counts until the definition changes, because that makes a new conversion.
   */
  let batches: 'work' | 'fail' | 'fail as single objects do' = 'work'

  async function convert(
    objects: readonly VersionedObject[],
    to: string,
    cancellation?: Cancellation,
  ): Promise<readonly VersionedObject[]> {
    const converted: VersionedObject[] = []
    for (const batch of batchesOf(objects)) {
      converted.push(...(await (batch.length > 1 ? convertMany : callFor)(batch, to, cancellation)))
    }
    return converted
  }

  async function convertMany(
    batch: readonly Encoded[],
    to: string,
    cancellation?: Cancellation,
  ): Promise<readonly VersionedObject[]> {
    if (batches === 'fail') return oneByOne(batch, to, cancellation)
    const isBroken = batches === 'fail as single objects do'
    try {
      if (!isBroken) return await callFor(batch, to, cancellation)
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error
    }
    let first: readonly VersionedObject[]
    try {
      first = await callFor(batch.slice(0, 1), to, cancellation)
    } catch (error) {
      if (error instanceof ResponseError) batches = 'fail as single objects do'
      throw error
    }
    // If it works again, the others are tried together.
    const others = batch.slice(1)
    if (isBroken) {
      batches = 'work'
      return [...first, ...(await (others.length > 1 ? convertMany : callFor)(others, to, cancellation))]
    }
    const rest = await oneByOne(others, to, cancellation)
    batches = 'fail'
    return [...first, ...rest]
  }

  async function oneByOne(
    batch: readonly Encoded[],
    to: string,
    cancellation?: Cancellation,
  ): Promise<readonly VersionedObject[]> {
    const converted: VersionedObject[] = []
    for (let i = 0; i < batch.length; i += MAX_CONCURRENT) {
      const some = batch.slice(i, i + MAX_CONCURRENT)
      converted.push(...(await Promise.all(some.map(each => callFor([each], to, cancellation)))).flat())
    }
    return converted
  }

  async function callFor(
    batch: readonly Encoded[],
    to: string,
    cancellation?: Cancellation,
  ): Promise<readonly VersionedObject[]> {
    const { object: first } = batch[0]!
    if (version === undefined) throw failed(first, 'failed: does not support any known conversion review version')
    const uid = randomUUID()
    const review = encodeReview(
      version,
      uid,
      to,
      batch.map(({ text }) => text),
    )
    try {
      const answer = await traced(
        'Call conversion webhook',
        () => ({ 'desired-api-version': to, 'object-count': batch.length, UID: uid }),
        () => webhooks.post(webhook.clientConfig, review, TIMEOUT_MS, cancellation?.signal),
      )
      return accepted(batch, readReview(version, uid, answer), to)
    } catch (error) {
      if (error instanceof WebhookError) throw failed(first, `failed: ${error.message}`)
      const isInvalid = error instanceof ReviewError || error instanceof GoStructError
      throw isInvalid ? invalidResponse(first, `failed: ${error.message}`) : error
    }
  }

  return convert
}

function accepted(batch: readonly Encoded[], response: ReturnType<typeof readReview>, to: string): VersionedObject[] {
  if (response.length !== batch.length) {
    throw invalidResponse(batch[0]!.object, `returned ${response.length} objects, expected ${batch.length}`)
  }
  for (const object of response) checkDecodable(object)
  return batch.map(({ object }, i) => {
    const checked = checkConverted(object, response[i], to)
    if ('error' in checked) throw invalidResponse(object, `returned invalid ${checked.error}`)
    return checked.object
  })
}

/** What is no object is refused in the words of the decoder alone. */
function checkDecodable(converted: Value): void {
  const why =
    converted === null
      ? 'unexpected end of JSON input'
      : !isObject(converted)
        ? `json: cannot unmarshal ${jsonTypeOf(converted)} into Go value of type map[string]interface {}`
        : getOwn(converted, 'kind')
          ? undefined
          : `Object 'Kind' is missing in '${encodeJson(converted)}'`
  if (why !== undefined) throw new ResponseError(unclassified(why).status)
}

/** The webhook responded, but the response is invalid. */
class ResponseError extends StatusError {}

const invalidResponse = (object: VersionedObject, why: string): ResponseError =>
  new ResponseError(failed(object, why).status)

const failed = ({ apiVersion, kind }: VersionedObject, why: string): StatusError =>
  unclassified(`conversion webhook for ${printGroupVersionKind(groupVersionKind(apiVersion, kind))} ${why}`)

interface Encoded {
  readonly object: VersionedObject
  readonly text: string
}

function* batchesOf(objects: readonly VersionedObject[]): Iterable<readonly Encoded[]> {
  let batch: Encoded[] = []
  let length = 0
  for (const object of objects) {
    const text = encodeJson(withoutVersion(object))
    if (batch.length > 0 && (batch.length === MAX_OBJECTS || length + text.length > MAX_LENGTH)) {
      yield batch
      batch = []
      length = 0
    }
    batch.push({ object, text })
    length += text.length
  }
  if (batch.length > 0) yield batch
}

/** kube-apiserver sends objects as stored, without their resourceVersion. */
function withoutVersion(object: VersionedObject): VersionedObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
