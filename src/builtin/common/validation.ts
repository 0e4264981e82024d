// The validation of a kind: which rules apply to a create, to an update and to a write through a subresource.
import type { FieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { metadata, metadataUpdate } from './metadata.js'
import { type Rule, run } from './rules.js'

export type Check = (object: ValueObject) => FieldError[]
export type CheckUpdate = (object: ValueObject, old: ValueObject) => FieldError[]
/** `now` is the time of the write. */
export type CheckAt = (object: ValueObject, old: ValueObject, now: number) => FieldError[]

export interface Validation {
  readonly create: Check
  readonly update: CheckUpdate
  readonly status?: CheckUpdate
  /** In the place of `status`, where it matters when the write is. */
  readonly statusAt?: CheckAt
  /** Writes through the other subresources that write the object, such as `resize`, by the name of the subresource. */
  readonly parts?: Readonly<Record<string, CheckUpdate>>
}

export interface ValidationRules {
  readonly create: readonly Rule[]
  readonly update: readonly Rule[]
  readonly status?: readonly Rule[]
  readonly parts?: Readonly<Record<string, readonly Rule[]>>
}

/** A validation made of lists of rules. Errors come in the order of the list. */
export function validationRules({ create, update, status, parts }: ValidationRules): Validation {
  const onUpdate =
    (rules: readonly Rule[]): CheckUpdate =>
    (object, old) =>
      run(rules, object, old)
  return {
    create: object => run(create, object, undefined),
    update: onUpdate(update),
    ...(status && { status: onUpdate(status) }),
    ...(parts && { parts: Object.fromEntries(Object.entries(parts).map(([name, rules]) => [name, onUpdate(rules)])) }),
  }
}

/** For kinds without rules of their own: the rules for metadata. */
export const metadataOnly = (namespaced: boolean): Validation =>
  validationRules({
    create: [metadata({ namespaced })],
    update: [metadata({ namespaced }), metadataUpdate],
    status: [metadataUpdate],
  })
