// Conversion by a function of the program that embeds the server. Its results are checked like those of webhooks.
import { type Awaitable, allOf, andThen, orElse } from '../base/awaitable.js'
import { StatusError, unclassified } from '../meta/errors/status.js'
import { groupVersionKind, printGroupVersionKind } from '../meta/group-version.js'
import { copyValue, type Value } from '../meta/values/value.js'
import type { ConvertObjects, VersionedObject } from './conversion.js'
import { checkConverted } from './webhook/converted-object.js'

/**
 * Converts an object to another apiVersion. It may change its argument. Integers beyond 2^53 are bigints. The message
 * of an error that it throws is sent to the client.
 */
export type ConvertFunction = (object: VersionedObject, to: string) => Awaitable<object>

export function convertByFunction(convert: ConvertFunction): ConvertObjects {
  const convertOne = (object: VersionedObject, to: string): Awaitable<VersionedObject> =>
    orElse(
      () => andThen(convert(copyValue(object), to), result => accepted(object, result, to)),
      error => refuse(object, error),
    )
  return (objects, to) => allOf(objects.map(object => convertOne(object, to)))
}

function refuse(object: VersionedObject, error: unknown): never {
  throw error instanceof StatusError ? error : failed(object, `failed: ${messageOf(error)}`)
}

function accepted(original: VersionedObject, result: object, to: string): VersionedObject {
  const checked = checkConverted(original, result as Value, to)
  if ('error' in checked) throw failed(original, `returned invalid ${checked.error}`)
  return checked.object
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const failed = ({ apiVersion, kind }: VersionedObject, why: string): StatusError =>
  unclassified(`conversion function for ${printGroupVersionKind(groupVersionKind(apiVersion, kind))} ${why}`)
