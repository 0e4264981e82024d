// Conversion by a function of the program that runs the server. It is held to what webhooks are held to.
import { groupVersionKind, printGroupVersionKind } from '../meta/group-version.js'
import { StatusError, unclassified } from '../meta/status.js'
import { copyValue, type Value } from '../meta/value.js'
import type { ConvertObjects, VersionedObject } from './conversion.js'
import { checkConverted } from './converted-object.js'

/**
 * An object as another apiVersion has it. It may change the one it gets. Whole numbers beyond 2^53 are bigints. What it
 * throws is what the client is told.
 */
export type ConvertFunction = (object: VersionedObject, to: string) => object | Promise<object>

export function convertByFunction(convert: ConvertFunction): ConvertObjects {
  function convertOne(object: VersionedObject, to: string): VersionedObject | Promise<VersionedObject> {
    try {
      const result = convert(copyValue(object), to)
      if (!(result instanceof Promise)) return accepted(object, result, to)
      return result.then(made => accepted(object, made, to)).catch(error => refuse(object, error))
    } catch (error) {
      return refuse(object, error)
    }
  }
  return (objects, to) => {
    const converted = objects.map(object => convertOne(object, to))
    return converted.some(each => each instanceof Promise)
      ? Promise.all(converted.map(async each => each))
      : (converted as readonly VersionedObject[])
  }
}

function refuse(object: VersionedObject, error: unknown): never {
  throw error instanceof StatusError ? error : failed(object, `failed: ${messageOf(error)}`)
}

function accepted(original: VersionedObject, result: object, to: string): VersionedObject {
  const checked = checkConverted(original, result as Value, to)
  if ('fault' in checked) throw failed(original, `returned invalid ${checked.fault}`)
  return checked.object
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const failed = ({ apiVersion, kind }: VersionedObject, why: string): StatusError =>
  unclassified(`conversion function for ${printGroupVersionKind(groupVersionKind(apiVersion, kind))} ${why}`)
