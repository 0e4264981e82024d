// The fields of a kind that field selectors may name, and how their values are read.
import { onlyNameAndNamespace, onlyTheseFields, type SupportField } from '../../meta/selectors/field-selectors.js'
import { numberAt, objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

export interface SelectableFields {
  /** Whether a selector may name a field, and the reason if not. */
  readonly support: SupportField
  /** The values of the fields apart from `metadata.name` and `metadata.namespace`. */
  readonly values: (object: ValueObject) => Record<string, string>
}

/** For kinds without fields of their own. */
export const NO_OWN_FIELDS: SelectableFields = { support: onlyNameAndNamespace, values: () => ({}) }

export interface FieldOptions {
  /** The kind as the error message names it, for the kinds where kube-apiserver does. */
  readonly kindInMessage?: string
  readonly namespaced?: boolean
  /** Older names of fields. */
  readonly aliases?: Readonly<Record<string, string>>
}

export function selectableFields(
  readers: Readonly<Record<string, (object: ValueObject) => string>>,
  { kindInMessage, namespaced = true, aliases = {} }: FieldOptions = {},
): SelectableFields {
  const names = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...Object.keys(readers)]
  const support = onlyTheseFields(names, kindInMessage)
  return {
    support: (field, value) => support(Object.hasOwn(aliases, field) ? aliases[field]! : field, value),
    values: object => Object.fromEntries(Object.entries(readers).map(([field, read]) => [field, read(object)])),
  }
}

/** Reads a string by its path. */
export const stringField =
  (...path: readonly string[]) =>
  (object: ValueObject): string => {
    const last = path.length - 1
    let at = object
    for (const name of path.slice(0, last)) at = objectAt(at, name)
    return stringAt(at, path[last]!)
  }

/** Reads a boolean; absent is `false`. */
export const booleanField =
  (...path: readonly [string, string]) =>
  (object: ValueObject): string =>
    String(objectAt(object, path[0])[path[1]] === true)

/** Reads a number; absent is `0`. */
export const numberField =
  (...path: readonly [string, string]) =>
  (object: ValueObject): string =>
    String(numberAt(objectAt(object, path[0]), path[1]))
