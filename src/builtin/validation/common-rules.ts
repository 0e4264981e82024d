// Rules that several kinds share: metadata as the built-in kinds check them, numbers in bounds, choices.
import {
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, type NameRule } from '../../meta/object/names.js'
import {
  checkObjectMeta,
  checkObjectMetaUpdate,
  FOREGROUND_FINALIZER,
  metaOf,
  ORPHAN_FINALIZER,
} from '../../meta/object/object-meta.js'
import { equalValues, getOwn, type Value, type ValueObject } from '../../meta/values/value.js'

/** What is wrong with an object as it is, and with a change from what it was. */
export type Check = (object: ValueObject) => FieldError[]
export type CheckUpdate = (object: ValueObject, old: ValueObject) => FieldError[]

export interface Validation {
  readonly create: Check
  readonly update: CheckUpdate
  readonly status?: CheckUpdate
  /** Writes to other parts of the object that have paths of their own, by their names. */
  readonly parts?: Readonly<Record<string, CheckUpdate>>
}

export interface MetaScope {
  readonly namespaced: boolean
  readonly name?: NameRule
  /** False for the kinds that take any finalizer that is a qualified name. */
  readonly knownFinalizers?: boolean
}

/** Metadata in themselves. Finalizers must belong to a domain or be Kubernetes' own. */
export function checkMeta(
  object: ValueObject,
  { namespaced, name = checkDnsSubdomain, knownFinalizers = true }: MetaScope,
): FieldError[] {
  const meta = metaOf(object)
  const finalizers = knownFinalizers ? (meta.finalizers ?? []) : []
  return [
    ...checkObjectMeta(meta, { namespaced, name }),
    ...finalizers.flatMap((finalizer, i) => checkFinalizerDomain(finalizer, indexPath('metadata.finalizers', i))),
  ]
}

export const checkMetaUpdate: CheckUpdate = (object, old) => checkObjectMetaUpdate(metaOf(object), metaOf(old))

export const checkFinalizerDomain = (finalizer: string, path: string): FieldError[] =>
  finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
    ? []
    : [fieldInvalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

/** The same faults as the rule gives, each as an invalid value of the field. */
export const checkText = (text: string, rule: NameRule, path: string): FieldError[] =>
  rule(text).map(error => fieldInvalid(path, text, error))

export const checkNotNegative = (value: number, path: string): FieldError[] =>
  value < 0 ? [fieldInvalid(path, value, 'must be greater than or equal to 0')] : []

export const checkPortNumber = (port: number, path: string): FieldError[] =>
  port >= 1 && port <= 65_535 ? [] : [fieldInvalid(path, port, 'must be between 1 and 65535, inclusive')]

/** One of the values, which are told in this order; empty is told as missing where `required`. */
export function checkOneOf(
  value: string,
  supported: readonly string[],
  path: string,
  { required = false } = {},
): FieldError[] {
  if (supported.includes(value)) return []
  return value === '' && required ? [fieldRequired(path)] : [fieldNotSupported(path, value, supported)]
}

/** A field that may not change. */
export const checkImmutable = (object: ValueObject, old: ValueObject, name: string, path = name): FieldError[] => {
  const value = getOwn(object, name)
  return equalValues(value, getOwn(old, name)) ? [] : [fieldInvalid(path, value ?? null, 'field is immutable')]
}

/** Equal apart from what counts as nothing. */
export const sameValue = (a: Value | undefined, b: Value | undefined): boolean => equalValues(a ?? null, b ?? null)
