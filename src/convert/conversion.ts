// Conversion of objects between the versions of their kind.
import type { Awaitable } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { ValueObject } from '../meta/values/value.js'

/** The fields of an object that conversion reads. */
export interface VersionedObject extends ValueObject {
  apiVersion: string
  kind: string
  metadata: ValueObject
}

/**
 * Converts objects of one kind to another version, in the same order. None of them is in that version already, and they
 * are not changed. A failed conversion is a StatusError. Returns a promise only if there is something to wait for.
 */
export type ConvertObjects = (
  objects: readonly VersionedObject[],
  to: string,
  cancellation?: Cancellation,
) => Awaitable<readonly VersionedObject[]>

/** The strategy `None`: only the apiVersion changes. */
export const renameVersion: ConvertObjects = (objects, to) => objects.map(object => ({ ...object, apiVersion: to }))
