// The fields that a version of a custom kind can be selected by, apart from name and namespace.
import { type ApiObject } from '../../meta/object/api-object.js'
import { onlyTheseFields, type SupportField } from '../../meta/selectors/field-selectors.js'
import { isInteger } from '../../meta/values/value.js'
import type { VersionSpec } from '../definition.js'
import { fieldsOf, nestedValue } from './nested-fields.js'

export interface SelectedFields {
  readonly support: SupportField
  values(object: ApiObject): Record<string, string>
}

export function selectedFieldsOf({ selectableFields = [] }: VersionSpec, namespaced: boolean): SelectedFields {
  const paths = selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, ''))
  return {
    support: onlyTheseFields(['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...paths]),
    values: object => Object.fromEntries(paths.map(path => [path, stringAt(object, path)])),
  }
}

/** What is not there is an empty text. */
function stringAt(object: ApiObject, path: string): string {
  const found = nestedValue(object, fieldsOf(path))
  if (!found.ok) return ''
  const { value } = found
  return typeof value === 'string' || typeof value === 'boolean' || isInteger(value) ? String(value) : ''
}
