// The names in a definition: of its resource and its kind, and its short names and categories.
import { childPath, type FieldError, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { checkDns1035Label } from '../../meta/object/names.js'
import type { DefinitionNames } from '../definition.js'

/** What is wrong with the names that are there. */
export function checkNames(names: DefinitionNames, path: string): FieldError[] {
  const { plural, singular = '', shortNames = [], kind, listKind = '', categories = [] } = names
  const labels = (field: string, texts: readonly string[]): FieldError[] =>
    texts.flatMap((text, i) => checkLabel(text, indexPath(childPath(path, field), i)))
  const errors = [
    ...(plural === '' ? [] : checkLabel(plural, childPath(path, 'plural'))),
    ...(singular === '' ? [] : checkLabel(singular, childPath(path, 'singular'))),
    ...(kind === '' ? [] : checkKind(kind, childPath(path, 'kind'))),
    ...(listKind === '' ? [] : checkKind(listKind, childPath(path, 'listKind'))),
    ...labels('shortNames', shortNames),
  ]
  if (kind !== '' && kind === listKind) {
    errors.push(fieldInvalid(childPath(path, 'listKind'), listKind, 'kind and listKind may not be the same'))
  }
  return [...errors, ...labels('categories', categories)]
}

/** The names that a definition cannot do without. */
export const checkRequiredNames = (names: DefinitionNames, path: string): FieldError[] =>
  (['plural', 'singular', 'kind', 'listKind'] as const).flatMap(field =>
    names[field] ? [] : [fieldRequired(childPath(path, field))],
  )

export function checkLabel(text: string, path: string): FieldError[] {
  const errors = checkDns1035Label(text)
  return errors.length === 0 ? [] : [fieldInvalid(path, text, errors.join(','))]
}

function checkKind(text: string, path: string): FieldError[] {
  const errors = checkDns1035Label(text.toLowerCase())
  if (errors.length === 0) return []
  return [fieldInvalid(path, text, `may have mixed case, but should otherwise match: ${errors.join(',')}`)]
}
