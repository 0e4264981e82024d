// Label selectors: the query-string form (`env in (dev,prod),!tier`), LabelSelector objects, and matching. A selector is
// a list of requirements that must all hold; an empty one selects everything.

import { failed, parsed, type Result } from '../../base/result.js'
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
  keyPath,
  printFieldError,
  printFieldErrors,
} from '../errors/field-errors.js'
import { compareTexts, parseInt64 } from '../go/go-text.js'
import { checkLabelValue, checkQualifiedName } from '../object/names.js'
import { MAX_REQUIREMENTS, TOO_MANY_REQUIREMENTS } from './selector-limit.js'

export type Labels = Readonly<Record<string, string>>

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'gt' | 'lt' | 'exists' | '!'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Sorted, without duplicates; none for `exists` and `!`, one for all but `in` and `notin`. */
  readonly values: readonly string[]
}

/** `nothing` is the selector of an absent LabelSelector object. */
export type LabelSelector = readonly LabelRequirement[] | 'nothing'

export const EVERYTHING: LabelSelector = []

/** True if every requirement holds for these labels. */
export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector !== 'nothing' && selector.every(requirement => meets(requirement, labels))
}

/** True for a selector without requirements. */
export const selectsEverything = (selector: LabelSelector): boolean => selector.length === 0

/** The canonical form: requirements by key, values sorted. Parsing it gives the same selector. */
export const printLabelSelector = (selector: LabelSelector): string =>
  selector === 'nothing' ? '' : selector.map(printRequirement).join(',')

/** The value that the selector requires of this label, if it requires exactly one. */
export function requiredLabel(selector: LabelSelector, key: string): string | undefined {
  if (selector === 'nothing') return undefined
  const requirement = selector.find(r => r.key === key && ['=', '==', 'in'].includes(r.operator))
  return requirement?.values.length === 1 ? requirement.values[0] : undefined
}

function meets({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value)
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
    case 'lt': {
      if (value === undefined) return false
      const actual = parseInt64(value)
      const bound = parseInt64(values[0] ?? '')
      if (!actual.ok || !bound.ok) return false
      return operator === 'gt' ? actual.value > bound.value : actual.value < bound.value
    }
  }
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`
    case 'gt':
      return `${key}>${values.join(',')}`
    case 'lt':
      return `${key}<${values.join(',')}`
    default:
      return `${key}${operator}${values.join(',')}`
  }
}

// ---- the query-string form

/** Parses `a=1,b!=2,c in (x,y),d,!e,f>5`. */
export function parseLabelSelector(text: string): Result<LabelSelector> {
  const tokens = scan(text)
  const requirements: LabelRequirement[] = []
  let position = 0
  const look = (): Token => tokens[position] ?? END
  const take = (): Token => tokens[position++] ?? END
  // Keywords are names where a name is expected, so a label may be called `in`.
  const startsRequirement = (token: Token): boolean => isWord(token) || token.type === '!'

  if (look().type === 'end') return parsed(EVERYTHING)
  if (!startsRequirement(look())) return failed(`found '${look().text}', expected: !, identifier, or 'end of string'`)
  for (;;) {
    const requirement = parseRequirement(look, take)
    if (!requirement.ok) return failed(`unable to parse requirement: ${requirement.error}`)
    requirements.push(requirement.value)
    if (requirements.length > MAX_REQUIREMENTS) return failed(TOO_MANY_REQUIREMENTS)
    const next = take()
    if (next.type === 'end') return parsed(requirements.toSorted((a, b) => compareTexts(a.key, b.key)))
    if (next.type !== ',') return failed(`found '${next.text}', expected: ',' or 'end of string'`)
    if (!startsRequirement(look())) return failed(`found '${look().text}', expected: identifier after ','`)
  }
}

function parseRequirement(look: () => Token, take: () => Token): Result<LabelRequirement> {
  let first = take()
  const negated = first.type === '!'
  if (negated) first = take()
  if (!isWord(first)) return failed(`found '${first.text}', expected: identifier`)
  const key = first.text
  const keyErrors = checkQualifiedName(key)
  if (keyErrors.length > 0) return failed(printFieldError(fieldInvalid('', key, keyErrors.join('; '))))
  if (negated || look().type === 'end' || look().type === ',') {
    return makeRequirement(key, negated ? '!' : 'exists', [])
  }
  const token = take()
  const operator = OPERATORS.get(token.type)
  if (operator === undefined) return failed(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`)
  const values = operator === 'in' || operator === 'notin' ? parseSet(look, take) : parseOne(look, take)
  return values.ok ? makeRequirement(key, operator, values.value) : values
}

/** `(a,b)`; nothing between commas or brackets is the empty value. */
function parseSet(look: () => Token, take: () => Token): Result<Set<string>> {
  const open = take()
  if (open.type !== '(') return failed(`found '${open.text}' expected: '('`)
  const values = new Set<string>()
  if (look().type === ')') {
    take()
    return parsed(values.add(''))
  }
  if (!isWord(look()) && look().type !== ',') return failed(`found '${look().text}', expected: ',', ')' or identifier`)
  for (;;) {
    const token = take()
    if (isWord(token)) {
      values.add(token.text)
      if (look().type !== ',' && look().type !== ')') return failed(`found '${look().text}', expected: ',' or ')'`)
    } else if (token.type === ',') {
      if (values.size === 0 || look().type === ',' || look().type === ')') values.add('')
    } else {
      return failed(`found '${token.text}', expected: ',', or identifier`)
    }
    if (look().type === ')') {
      take()
      return parsed(values)
    }
  }
}

function parseOne(look: () => Token, take: () => Token): Result<Set<string>> {
  if (look().type === 'end' || look().type === ',') return parsed(new Set(['']))
  const token = take()
  return isWord(token) ? parsed(new Set([token.text])) : failed(`found '${token.text}', expected: identifier`)
}

function makeRequirement(key: string, operator: LabelOperator, given: Iterable<string>): Result<LabelRequirement> {
  const values = [...given].toSorted(compareTexts)
  const errors: FieldError[] = []
  if (operator === 'gt' || operator === 'lt') {
    values.forEach((value, i) => {
      if (!parseInt64(value).ok) {
        const why = "for 'Gt', 'Lt' operators, the value must be an integer"
        errors.push(fieldInvalid(indexPath('values', i), value, why))
      }
    })
  }
  values.forEach((value, i) => {
    const reasons = checkLabelValue(value)
    if (reasons.length > 0) errors.push(fieldInvalid(keyPath(indexPath('values', i), key), value, reasons.join('; ')))
  })
  return errors.length > 0 ? failed(printFieldErrors(errors)) : parsed({ key, operator, values })
}

// ---- tokens

interface Token {
  readonly type: 'word' | 'end' | 'error' | 'in' | 'notin' | '=' | '==' | '!=' | '!' | '>' | '<' | '(' | ')' | ','
  readonly text: string
}

const END: Token = { type: 'end', text: '' }

const OPERATORS: ReadonlyMap<Token['type'], LabelOperator> = new Map([
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['in', 'in'],
  ['notin', 'notin'],
  ['>', 'gt'],
  ['<', 'lt'],
])

const isWord = ({ type }: Token): boolean => type === 'word' || type === 'in' || type === 'notin'

/**
 * The longest operator that begins here; other characters up to an operator or a space are a word. A zero byte ends a token,
 * and the text where no token has begun.
 */
function scan(text: string): Token[] {
  const tokens: Token[] = []
  const pattern = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n\0]+))\0?/y
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [, symbol, word = ''] = found
    if (symbol !== undefined) tokens.push({ type: symbol as Token['type'], text: symbol })
    else tokens.push({ type: word === 'in' || word === 'notin' ? word : 'word', text: word })
  }
  return tokens
}

// ---- LabelSelector objects

/** A LabelSelector of the API; its types were checked when it was decoded. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelExpression[]
}

export interface LabelExpression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** The selector of a LabelSelector object: absent selects nothing, empty selects everything. */
export function selectorOf(object: LabelSelectorObject | undefined): Result<LabelSelector> {
  if (object === undefined) return parsed('nothing')
  const requirements: LabelRequirement[] = []
  for (const [key, value] of Object.entries(object.matchLabels ?? {})) {
    const requirement = checkedRequirement(key, '=', [value])
    if (!requirement.ok) return requirement
    requirements.push(requirement.value)
  }
  for (const { key, operator, values = [] } of object.matchExpressions ?? []) {
    const labelOperator = EXPRESSION_OPERATORS.get(operator)
    if (labelOperator === undefined) return failed(`"${operator}" is not a valid label selector operator`)
    const requirement = checkedRequirement(key, labelOperator, values)
    if (!requirement.ok) return requirement
    requirements.push(requirement.value)
  }
  return parsed(requirements.toSorted((a, b) => compareTexts(a.key, b.key)))
}

const EXPRESSION_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

function checkedRequirement(key: string, operator: LabelOperator, values: readonly string[]): Result<LabelRequirement> {
  const errors = checkQualifiedName(key)
  if (errors.length > 0) return failed(printFieldError(fieldInvalid('key', key, errors.join('; '))))
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    return failed("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    return failed(
      printFieldError(fieldInvalid('values', [...values], 'values set must be empty for exists and does not exist')),
    )
  }
  return makeRequirement(key, operator, new Set(values))
}

/** The errors of a LabelSelector object. */
export function checkLabelSelector(object: LabelSelectorObject, path: string): FieldError[] {
  const errors = checkLabels(object.matchLabels ?? {}, childPath(path, 'matchLabels'))
  object.matchExpressions?.forEach((expression, i) => {
    errors.push(...checkExpression(expression, indexPath(childPath(path, 'matchExpressions'), i)))
  })
  return errors
}

/** The errors of a set of labels. Errors of keys and values are reported for the path of the map. */
export function checkLabels(labels: Labels, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const key of Object.keys(labels)) {
    const value = labels[key]!
    for (const error of checkQualifiedName(key)) errors.push(fieldInvalid(path, key, error))
    for (const error of checkLabelValue(value)) errors.push(fieldInvalid(path, value, error))
  }
  return errors
}

/** The errors of one requirement of a LabelSelector object. */
export function checkExpression(
  { key, operator, values = [] }: LabelExpression,
  path: string,
  { allowUnknownOperator = false }: { readonly allowUnknownOperator?: boolean } = {},
): FieldError[] {
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(fieldRequired(childPath(path, 'values'), "must be specified when `operator` is 'In' or 'NotIn'"))
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
      errors.push(fieldForbidden(childPath(path, 'values'), why))
    }
  } else if (!allowUnknownOperator) {
    errors.push(fieldInvalid(childPath(path, 'operator'), asTypedText(operator), 'not a valid selector operator'))
  }
  errors.push(...checkQualifiedName(key).map(error => fieldInvalid(childPath(path, 'key'), key, error)))
  values.forEach((value, i) => {
    const at = indexPath(childPath(path, 'values'), i)
    errors.push(...checkLabelValue(value).map(error => fieldInvalid(at, value, error)))
  })
  return errors
}
