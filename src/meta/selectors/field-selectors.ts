// Field selectors: `metadata.name=a,status.phase!=Running`. The kind decides which fields are supported, by a function.
// In a value, a backslash escapes `\`, `,` and `=`.

import { failed, parsed, type Result } from '../../base/result.js'
import { compareTexts, quote } from '../go/go-text.js'
import { MAX_REQUIREMENTS, TOO_MANY_REQUIREMENTS } from './selector-limit.js'

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** All requirements must hold; an empty selector selects everything. */
export type FieldSelector = readonly FieldRequirement[]

/** Parses `a=1,b==2,c!=3`. The fields are not checked yet. */
export function parseFieldSelector(text: string): Result<FieldSelector> {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).toSorted(compareTexts)) {
    if (term === '') continue
    const split = splitTerm(term)
    if (split === undefined) return failed(`invalid selector: '${text}'; can't understand '${term}'`)
    const value = unescapeValue(split.value)
    if (!value.ok) return value
    // A term without field and value is ignored.
    if (split.field !== '' || value.value !== '') requirements.push({ ...split, value: value.value })
    if (requirements.length > MAX_REQUIREMENTS) return failed(TOO_MANY_REQUIREMENTS)
  }
  return parsed(requirements)
}

/** The canonical form. Parsing it gives the same selector. */
export const printFieldSelector = (selector: FieldSelector): string =>
  selector.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',')

/** True if every requirement holds; a missing field counts as empty. */
export const matchesFields = (selector: FieldSelector, fields: Readonly<Record<string, string>>): boolean =>
  selector.every(({ field, operator, value }) => {
    const actual = Object.hasOwn(fields, field) ? fields[field] : ''
    return (actual === value) === (operator === '=')
  })

/** The value that the selector requires of this field, if it requires exactly one. */
export const requiredField = (selector: FieldSelector, field: string): string | undefined =>
  selector.find(requirement => requirement.field === field && requirement.operator === '=')?.value

// ---- fields that a kind supports

/** Whether a field is supported, and the field and value to compare with. */
export type SupportField = (field: string, value: string) => Result<{ readonly field: string; readonly value: string }>

/** The selector with the kind's own fields, or the reason why it is not supported. */
export function supportedFields(selector: FieldSelector, support: SupportField): Result<FieldSelector> {
  const requirements: FieldRequirement[] = []
  for (const { field, operator, value } of selector) {
    const supported = support(field, value)
    if (!supported.ok) return supported
    requirements.push({ operator, ...supported.value })
  }
  return parsed(requirements)
}

/** For kinds with a list of fields. `kind` is part of the message where kube-apiserver includes it. */
export const onlyTheseFields = (fields: Iterable<string>, kind?: string): SupportField => {
  const supported = new Set(fields)
  return (field, value) => {
    if (supported.has(field)) return parsed({ field, value })
    return failed(
      kind === undefined
        ? `field label not supported: ${field}`
        : `field label ${quote(field)} not supported for ${kind}`,
    )
  }
}

/** For kinds without selectable fields of their own. */
export const onlyNameAndNamespace: SupportField = (field, value) =>
  field === 'metadata.name' || field === 'metadata.namespace'
    ? parsed({ field, value })
    : failed(`${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`)

// ---- terms

/** Splits at commas without a backslash before them. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function splitTerm(term: string): FieldRequirement | undefined {
  const found = /!=|==|=/.exec(term)
  if (found === null) return undefined
  return {
    field: term.slice(0, found.index),
    operator: found[0] === '!=' ? '!=' : '=',
    value: term.slice(found.index + found[0].length),
  }
}

function unescapeValue(text: string): Result<string> {
  let value = ''
  let escaped = false
  for (const character of text) {
    if (escaped) {
      if (!'\\,='.includes(character)) return failed(`invalid field selector: invalid escape sequence: \\${character}`)
      value += character
      escaped = false
    } else if (character === '\\') escaped = true
    else if (character === ',' || character === '=') {
      return failed(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    } else value += character
  }
  return escaped ? failed('invalid field selector: invalid escape sequence: \\') : parsed(value)
}

const escapeValue = (value: string): string => value.replace(/[\\,=]/g, character => `\\${character}`)
