// The selectors of an access review: their validation, and the parts of them that cannot be used and are ignored.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { type FieldSelector, parseFieldSelector } from '../../meta/selectors/field-selectors.js'
import {
  checkExpression,
  type LabelOperator,
  type LabelRequirement,
  parseLabelSelector,
} from '../../meta/selectors/label-selectors.js'
import { objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

const SELECTORS = ['fieldSelector', 'labelSelector'] as const

export function checkSelectors(review: ApiObject): FieldError[] {
  return SELECTORS.flatMap(name => {
    const selector = selectorOf(review, name)
    if (!selector) return []
    const path = `spec.resourceAttributes.${name}`
    const raw = stringAt(selector, 'rawSelector')
    const requirements = objectsAt(selector, 'requirements')
    const errors: FieldError[] = []
    if (raw !== '' && requirements.length > 0) {
      const why = 'may not specified at the same time as requirements'
      errors.push(fieldInvalid(childPath(path, 'rawSelector'), raw, why))
    }
    if (raw === '' && requirements.length === 0) {
      const why = `when ${path} is specified, requirements or rawSelector is required`
      errors.push(fieldRequired(childPath(path, 'requirements'), why))
    }
    const check = name === 'fieldSelector' ? checkFieldRequirement : checkLabelRequirement
    requirements.forEach((requirement, i) => {
      errors.push(...check(requirement, indexPath(childPath(path, 'requirements'), i)))
    })
    return errors
  })
}

const selectorOf = (review: ApiObject, name: (typeof SELECTORS)[number]): ValueObject | undefined =>
  objectOrNone(objectAt(objectAt(review, 'spec'), 'resourceAttributes'), name)

/** Operators that this server does not know are let through: newer clients may have them. */
function checkLabelRequirement(requirement: ValueObject, path: string): FieldError[] {
  const operator = stringAt(requirement, 'operator')
  return checkExpression(
    { key: stringAt(requirement, 'key'), operator, values: stringsAt(requirement, 'values') },
    path,
    {
      allowUnknownOperator: true,
    },
  )
}

function checkFieldRequirement(requirement: ValueObject, path: string): FieldError[] {
  const operator = stringAt(requirement, 'operator')
  const values = stringsAt(requirement, 'values')
  const at = childPath(path, 'values')
  return [
    ...(stringAt(requirement, 'key') === '' ? [fieldRequired(childPath(path, 'key'), 'must be specified')] : []),
    ...(isIn(operator) && values.length === 0
      ? [fieldRequired(at, "must be specified when `operator` is 'In' or 'NotIn'")]
      : []),
    ...(isExists(operator) && values.length > 0
      ? [fieldForbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
      : []),
  ]
}

const isIn = (operator: string): boolean => operator === 'In' || operator === 'NotIn'
const isExists = (operator: string): boolean => operator === 'Exists' || operator === 'DoesNotExist'

/** The evaluationError of the review: which selectors were ignored, wholly or in part. */
export function ignoredSelectors(review: ApiObject): string {
  const texts = SELECTORS.flatMap(name => {
    const selector = selectorOf(review, name)
    const ignored = selector && ignoredIn(name, selector)
    return ignored ? [`spec.resourceAttributes.${name} ${ignored} due to parse error`] : []
  })
  return texts.join('; ')
}

function ignoredIn(name: (typeof SELECTORS)[number], selector: ValueObject): string | undefined {
  const raw = stringAt(selector, 'rawSelector')
  const requirements = objectsAt(selector, 'requirements')
  if (requirements.length === 0) {
    const parse = name === 'fieldSelector' ? parseFieldSelector : parseLabelSelector
    return raw === '' || parse(raw).ok ? undefined : 'ignored'
  }
  const isUsable = name === 'fieldSelector' ? isUsableField : isUsableLabel
  const usable = requirements.filter(isUsable).length
  return usable === requirements.length ? undefined : usable > 0 ? 'partially ignored' : 'ignored'
}

/** The requirements of the field selector that can be used. */
export function usableFields(attributes: ValueObject): string | FieldSelector | undefined {
  const selector = objectOrNone(attributes, 'fieldSelector')
  if (!selector) return undefined
  const requirements = objectsAt(selector, 'requirements')
  if (requirements.length === 0) return stringAt(selector, 'rawSelector')
  return requirements.filter(isUsableField).map(requirement => ({
    field: stringAt(requirement, 'key'),
    operator: stringAt(requirement, 'operator') === 'In' ? '=' : '!=',
    value: stringsAt(requirement, 'values')[0]!,
  }))
}

/** The requirements of the label selector that can be used. */
export function usableLabels(attributes: ValueObject): string | readonly LabelRequirement[] | undefined {
  const selector = objectOrNone(attributes, 'labelSelector')
  if (!selector) return undefined
  const requirements = objectsAt(selector, 'requirements')
  if (requirements.length === 0) return stringAt(selector, 'rawSelector')
  return requirements.filter(isUsableLabel).map(requirement => ({
    key: stringAt(requirement, 'key'),
    operator: LABEL_OPERATORS[stringAt(requirement, 'operator')]!,
    values: stringsAt(requirement, 'values'),
  }))
}

const LABEL_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** Fields are compared with one value only. */
const isUsableField = (requirement: ValueObject): boolean =>
  isIn(stringAt(requirement, 'operator')) && stringsAt(requirement, 'values').length === 1

const isUsableLabel = (requirement: ValueObject): boolean =>
  isIn(stringAt(requirement, 'operator')) || isExists(stringAt(requirement, 'operator'))
