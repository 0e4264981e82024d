// What a patch can do wrong, as the API answers it. The caller turns a PatchError into a Status.
import { isObject, type Value } from '../meta/values/value.js'

export type PatchErrorReason = 'BadRequest' | 'RequestEntityTooLarge' | 'Invalid' | ''

/**
 * `message` is the Status' message, word for word that of the reference. It is sometimes so general that it helps
 * nobody; `detail` then says what is wrong, for a log or beside the message.
 */
export class PatchError extends Error {
  override readonly name = 'PatchError'

  constructor(
    readonly code: 400 | 413 | 422 | 500,
    readonly reason: PatchErrorReason,
    message: string,
    readonly detail: string = message,
  ) {
    super(message)
  }
}

/** The patch cannot be read. */
export const malformed = (message: string): PatchError => new PatchError(400, 'BadRequest', message)

/** The patch is one, but does not fit the object. The answer is the same whatever the cause; its details are `{}`. */
export const doesNotApply = (detail: string): PatchError =>
  new PatchError(422, 'Invalid', 'the server rejected our request due to an error in our request', detail)

export const tooLarge = (message: string): PatchError =>
  new PatchError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)

/** A fault for which the reference has no class of its own: 500, without reason or details. */
export const unclassified = (message: string): PatchError => new PatchError(500, '', message)

/** How the reference names what it found where it expected something else. */
export function jsonTypeName(value: Value): 'null' | 'bool' | 'string' | 'number' | 'array' | 'object' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return isObject(value) ? 'object' : 'number'
}
