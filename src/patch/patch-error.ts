// The errors of patches with their response. The caller turns a PatchError into a Status.
import { isObject, type Value } from '../meta/values/value.js'

export type PatchErrorReason = 'BadRequest' | 'RequestEntityTooLarge' | 'Invalid' | ''

/**
 * `message` is the Status' message, exactly that of kube-apiserver. Where it is too general to help, `detail` says what
 * is wrong.
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

/** The patch cannot be parsed. */
export const malformed = (message: string): PatchError => new PatchError(400, 'BadRequest', message)

/** The patch cannot be applied to the object. The response is the same for every cause; its details are `{}`. */
export const doesNotApply = (detail: string): PatchError =>
  new PatchError(422, 'Invalid', 'the server rejected our request due to an error in our request', detail)

export const tooLarge = (message: string): PatchError =>
  new PatchError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)

/** An error that kube-apiserver does not classify: 500, without reason or details. */
export const unclassified = (message: string): PatchError => new PatchError(500, '', message)

/** kube-apiserver's name for a value of an unexpected type. */
export function jsonTypeName(value: Value): 'null' | 'bool' | 'string' | 'number' | 'array' | 'object' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return isObject(value) ? 'object' : 'number'
}
