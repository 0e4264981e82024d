// Converting objects between the versions of their kind.
import type { Awaitable } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { ValueObject } from '../meta/values/value.js'

/** An object as far as conversion must know it. */
export interface VersionedObject extends ValueObject {
  apiVersion: string
  kind: string
  metadata: ValueObject
}

/**
 * Objects of one kind, none of which is in the version that is wanted, as that version has them, in the same order. They
 * are left as they were. What cannot be converted is a StatusError. A promise only where there is something to wait for.
 */
export type ConvertObjects = (
  objects: readonly VersionedObject[],
  to: string,
  cancellation?: Cancellation,
) => Awaitable<readonly VersionedObject[]>

/** The strategy `None`: versions differ in nothing but their name. */
export const renameVersion: ConvertObjects = (objects, to) => objects.map(object => ({ ...object, apiVersion: to }))
