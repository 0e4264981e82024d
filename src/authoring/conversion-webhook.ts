// Answers ConversionReviews by definitions: what `binnacle crd conversion-webhook` serves to a cluster.

import { CodecError } from '../codec/codec-error.js'
import { decodeJson, encodeJson } from '../codec/json.js'
import { groupVersionKind } from '../meta/group-version.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { objectAt, stringAt } from '../meta/values/access.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { convertObject } from './convert-object.js'
import type { OfflineApi } from './offline-api.js'

/** The response to the body of a request. Throws an Error if it is no ConversionReview. */
export async function answerReview(api: OfflineApi, body: Buffer): Promise<string> {
  const review = readReview(body)
  const request = objectAt(review, 'request')
  const response = await respond(api, request)
  return encodeJson({
    apiVersion: review['apiVersion']!,
    kind: 'ConversionReview',
    response: { uid: stringAt(request, 'uid'), ...response },
  })
}

function readReview(body: Buffer): ValueObject {
  try {
    const { value } = decodeJson(body)
    if (isObject(value) && value['kind'] === 'ConversionReview' && isObject(value['request'])) return value
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
  }
  throw new Error('the body must be a ConversionReview with a request')
}

async function respond(api: OfflineApi, request: ValueObject): Promise<ValueObject> {
  const to = stringAt(request, 'desiredAPIVersion')
  const objects = getOwn(request, 'objects')
  const converted: Value[] = []
  try {
    for (const object of Array.isArray(objects) ? objects : []) {
      if (!isObject(object)) throw new Error('an object is not an object')
      const { group, kind: name } = groupVersionKind(stringAt(object, 'apiVersion'), stringAt(object, 'kind'))
      const kind = api.registry.findKind(group, name)
      if (kind?.origin !== 'custom') throw new Error(`there is no definition of ${name} in ${group}`)
      converted.push(await convertObject(kind, object as ApiObject, to))
    }
  } catch (error) {
    return { result: { status: 'Failure', message: (error as Error).message }, convertedObjects: [] }
  }
  return { result: { status: 'Success' }, convertedObjects: converted }
}
