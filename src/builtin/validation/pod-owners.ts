// What the kinds that keep pods running have in common: a selector that finds the pods of the template, pods that are
// meant to run for ever, and counts.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { checkPercent } from '../../meta/object/names.js'
import { checkLabelSelector, matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { has, mapAt, numberAt, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkMeta, checkMetaUpdate, checkNotNegative, checkText, sameValue, type Validation } from './common-rules.js'
import { checkPodTemplate } from './pods.js'

/** The rules for a kind of them. Pods that were made by one selector are not found by another: it stays. */
export function podOwnerValidation(
  checkSpec: (spec: ValueObject) => FieldError[],
  checkStatus: (status: ValueObject) => FieldError[],
  { selectorStays = true } = {},
): Validation {
  const check = (object: ValueObject): FieldError[] => checkSpec(objectAt(object, 'spec'))
  return {
    create: object => [...checkMeta(object, { namespaced: true }), ...check(object)],
    update: (object, old) => [
      ...checkMetaUpdate(object, old),
      ...check(object),
      ...(selectorStays ? checkSelectorKept(object, old) : []),
    ],
    status: (object, old) => [...checkMetaUpdate(object, old), ...checkStatus(objectAt(object, 'status'))],
  }
}

/** The selector and, by it, the template. `owner` and `podOwner` are how messages name what it belongs to. */
export function checkSelectorAndTemplate(
  spec: ValueObject,
  { owner, podOwner, required = true }: { owner: string; podOwner: string; required?: boolean },
): FieldError[] {
  const object = objectOrNone(spec, 'selector')
  const path = 'spec.selector'
  const errors: FieldError[] = []
  if (object !== undefined) {
    errors.push(...checkLabelSelector(object, path))
    if (!has(object, 'matchLabels') && !has(object, 'matchExpressions')) {
      errors.push(fieldInvalid(path, asStruct(object), `empty selector is invalid for ${owner}`))
    }
  } else if (required) errors.push(fieldRequired(path))
  const selector = selectorOf(object)
  if (!selector.ok) return [...errors, fieldInvalid(path, asStruct(object ?? null), 'invalid label selector')]
  const template = objectAt(spec, 'template')
  return [
    ...errors,
    ...checkTemplateLabels(template, labels => matchesLabels(selector.value, labels)),
    ...checkLastingPods(template, podOwner),
  ]
}

export function checkTemplateLabels(
  template: ValueObject,
  matches: (labels: Readonly<Record<string, string>>) => boolean,
): FieldError[] {
  const meta = objectAt(template, 'metadata')
  if (matches(mapAt(meta, 'labels'))) return []
  const labels: Value = getOwn(meta, 'labels') ?? null
  return [fieldInvalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
}

/** A template of pods that are not meant to end. */
export function checkLastingPods(template: ValueObject, podOwner: string): FieldError[] {
  const path = 'spec.template'
  const spec = objectAt(template, 'spec')
  const errors = checkPodTemplate(template, path)
  const restart = stringAt(spec, 'restartPolicy')
  if (restart !== 'Always') errors.push(fieldNotSupported(`${path}.spec.restartPolicy`, restart, ['Always']))
  if (has(spec, 'activeDeadlineSeconds')) {
    const why = `activeDeadlineSeconds in ${podOwner} is not Supported`
    errors.push(fieldForbidden(`${path}.spec.activeDeadlineSeconds`, why))
  }
  return errors
}

function checkSelectorKept(object: ValueObject, old: ValueObject): FieldError[] {
  const selector = getOwn(objectAt(object, 'spec'), 'selector') ?? null
  return sameValue(selector, getOwn(objectAt(old, 'spec'), 'selector'))
    ? []
    : [fieldInvalid('spec.selector', asStruct(selector), 'field is immutable')]
}

// ---- counts

export const checkCounts = (object: ValueObject, fields: readonly string[], path: string): FieldError[] =>
  fields.flatMap(field => checkNotNegative(numberAt(object, field), childPath(path, field)))

/** Of what there is, no more can be in some state. */
export function checkStatusCounts(
  status: ValueObject,
  counts: readonly string[],
  others: readonly string[],
): FieldError[] {
  const errors = checkCounts(status, ['replicas', ...counts, ...others], 'status')
  const notAbove = (field: string, max: string, told: string): void => {
    const value = numberAt(status, field)
    if (value > numberAt(status, max)) {
      errors.push(fieldInvalid(`status.${field}`, value, `cannot be greater than ${told}`))
    }
  }
  for (const field of counts) notAbove(field, 'replicas', 'status.replicas')
  notAbove('availableReplicas', 'readyReplicas', 'readyReplicas')
  return errors
}

/** A number or a percentage. */
export const checkCount = (count: Value, path: string): FieldError[] =>
  typeof count === 'string' ? checkText(count, checkPercent, path) : checkNotNegative(Number(count), path)

/** The number, or that of the percentage; 0 for what is neither. */
export function countOrPercent(count: Value): number {
  if (typeof count !== 'string') return Number(count)
  return checkPercent(count).length === 0 ? Number(count.slice(0, -1)) : 0
}

export const checkAtMaxAll = (count: Value, path: string): FieldError[] =>
  typeof count === 'string' && countOrPercent(count) > 100
    ? [fieldInvalid(path, count, 'must not be greater than 100%')]
    : []
