// metav1.Condition, which most newer kinds have in their status: one of each type, with status, reason and time.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { has, numberAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText } from './field-checks.js'

export function checkConditions(conditions: readonly ValueObject[], path: string): FieldError[] {
  const seen = new Set<string>()
  return conditions.flatMap((condition, i) => {
    const at = indexPath(path, i)
    const type = stringAt(condition, 'type')
    const repeated = seen.has(type) ? [fieldDuplicate(childPath(at, 'type'), type)] : []
    seen.add(type)
    return [...repeated, ...checkCondition(condition, at)]
  })
}

export const isConditionTrue = (conditions: readonly ValueObject[], type: string): boolean =>
  conditions.some(condition => stringAt(condition, 'type') === type && stringAt(condition, 'status') === 'True')

const STATUSES = ['False', 'True', 'Unknown']
const MAX_REASON = 1024
const MAX_MESSAGE = 32 * 1024

function checkCondition(condition: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const reason = stringAt(condition, 'reason')
  return [
    ...checkText(stringAt(condition, 'type'), checkQualifiedName, at('type')),
    ...checkOneOf(stringAt(condition, 'status'), STATUSES, at('status')),
    ...(numberAt(condition, 'observedGeneration') < 0
      ? [
          fieldInvalid(
            at('observedGeneration'),
            numberAt(condition, 'observedGeneration'),
            'must be greater than or equal to zero',
          ),
        ]
      : []),
    ...(has(condition, 'lastTransitionTime') ? [] : [fieldRequired(at('lastTransitionTime'))]),
    ...(reason === '' ? [fieldRequired(at('reason'))] : checkReason(reason, at('reason'))),
    ...checkLength(reason, MAX_REASON, at('reason')),
    ...checkLength(stringAt(condition, 'message'), MAX_MESSAGE, at('message')),
  ]
}

const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const REASON_ERROR =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
const REASON_EXAMPLES =
  "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is"

const checkReason = (reason: string, path: string): FieldError[] =>
  new RegExp(`^${REASON}$`, 'u').test(reason)
    ? []
    : [fieldInvalid(path, reason, `${REASON_ERROR} ${REASON_EXAMPLES} '${REASON}')`)]

const checkLength = (text: string, max: number, path: string): FieldError[] =>
  Buffer.byteLength(text) > max ? [fieldTooLong(path, max)] : []
