// The policies of a job: which failures of pods fail the job, and when a job with indexes has succeeded.

import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { has, numberAt, numberOrNone, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkNotNegative, checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { check, each, maxBytes, maxItems, optional, type Rule, required, run } from '../common/rules.js'
import { countIndexes, parseIndexes } from './indexes.js'

const MAX_RULES = 20

const quoted = (values: readonly string[]): string => `[${values.map(quote).join(' ')}]`

/** One of the values; the message for an empty one lists them. */
const namedOneOf = (name: string, supported: readonly string[]): Rule =>
  check((object, path) => {
    const given = stringAt(object, name)
    const at = childPath(path, name)
    if (given === '') return [fieldRequired(at, `valid values: ${quoted(supported)}`)]
    return supported.includes(given) ? [] : [fieldNotSupported(at, given, supported)]
  })

// ---- podFailurePolicy

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const STATUSES = ['False', 'True', 'Unknown']
const MAX_EXIT_CODES = 255
const MAX_CONDITIONS = 20

const containerNames = (jobSpec: ValueObject): Set<string> => {
  const pod = objectAt(objectAt(jobSpec, 'template'), 'spec')
  const containers = [...objectsAt(pod, 'containers'), ...objectsAt(pod, 'initContainers')]
  return new Set(containers.map(container => stringAt(container, 'name')))
}

const numbersAt = (object: ValueObject, name: string): number[] => {
  const values = getOwn(object, name)
  return Array.isArray(values) ? values.map(Number) : []
}

function checkExitCodes(requirement: ValueObject, path: string): FieldError[] {
  const at = childPath(path, 'values')
  const values = numbersAt(requirement, 'values')
  const errors: FieldError[] = []
  if (values.length === 0) {
    const shown: Value = asGiven(requirement, 'values')
    errors.push(fieldInvalid(at, shown, 'at least one value is required'))
  }
  errors.push(...run([maxItems('values', MAX_EXIT_CODES)], requirement, undefined, path))
  const repeats = repeatsOf(values)
  values.forEach((value, i) => {
    const valuePath = indexPath(at, i)
    if (stringAt(requirement, 'operator') === 'In' && value === 0) {
      errors.push(fieldInvalid(valuePath, value, 'must not be 0 for the In operator'))
    }
    if (repeats.has(i)) errors.push(fieldDuplicate(valuePath, value))
  })
  if (values.some((value, i) => i > 0 && values[i - 1]! > value)) {
    errors.push(fieldInvalid(at, values, 'must be ordered'))
  }
  return errors
}

const checkContainerName =
  (names: ReadonlySet<string>) =>
  (requirement: ValueObject, path: string): FieldError[] => {
    const name = stringAt(requirement, 'containerName')
    if (!has(requirement, 'containerName') || names.has(name)) return []
    const why = 'must be one of the container or initContainer names in the pod template'
    return [fieldInvalid(childPath(path, 'containerName'), name, why)]
  }

const conditionRules: readonly Rule[] = [
  check((condition, path) => checkText(stringAt(condition, 'type'), checkQualifiedName, childPath(path, 'type'))),
  namedOneOf('status', STATUSES),
]

const action = (jobSpec: ValueObject): Rule => {
  const isKnown = namedOneOf('action', ACTIONS)
  return (rule, old, path, errors) => {
    if (stringAt(rule, 'action') !== 'FailIndex') isKnown(rule, old, path, errors)
    else if (!has(jobSpec, 'backoffLimitPerIndex')) {
      errors.push(fieldInvalid(childPath(path, 'action'), 'FailIndex', 'requires the backoffLimitPerIndex to be set'))
    }
  }
}

const oneRequirement = check((rule, path) => {
  const hasCodes = has(rule, 'onExitCodes')
  const hasConditions = objectsAt(rule, 'onPodConditions').length > 0
  if (hasCodes !== hasConditions) return []
  const why = hasCodes
    ? 'specifying both OnExitCodes and OnPodConditions is not supported'
    : 'specifying one of OnExitCodes and OnPodConditions is required'
  return [fieldInvalid(path, undefined, why)]
})

const failureRules = (jobSpec: ValueObject): readonly Rule[] => [
  action(jobSpec),
  optional('onExitCodes', [
    namedOneOf('operator', OPERATORS),
    check(checkContainerName(containerNames(jobSpec))),
    check(checkExitCodes),
  ]),
  maxItems('onPodConditions', MAX_CONDITIONS),
  each('onPodConditions', conditionRules),
  oneRequirement,
]

/** Rules for `podFailurePolicy` of the spec of a job. */
export const podFailurePolicy: Rule = (spec, old, path, errors) =>
  optional('podFailurePolicy', [maxItems('rules', MAX_RULES), each('rules', failureRules(spec))])(
    spec,
    old,
    path,
    errors,
  )

// ---- successPolicy

const MAX_SUCCEEDED_INDEXES = 64 * 1024

const checkSuccessRule =
  (completions: number) =>
  (rule: ValueObject, path: string): FieldError[] => {
    const at = (name: string): string => childPath(path, name)
    const hasIndexes = has(rule, 'succeededIndexes')
    const count = numberOrNone(rule, 'succeededCount')
    const errors: FieldError[] = []
    if (count === undefined && !hasIndexes) {
      errors.push(fieldRequired(path, 'at least one of succeededCount or succeededIndexes must be specified'))
    }
    const text = stringAt(rule, 'succeededIndexes')
    const indexes = parseIndexes(text, completions)
    if (hasIndexes) {
      errors.push(...run([maxBytes('succeededIndexes', MAX_SUCCEEDED_INDEXES)], rule, undefined, path))
      if (!indexes.ok) {
        errors.push(fieldInvalid(at('succeededIndexes'), text, `error parsing succeededIndexes: ${indexes.error}`))
      }
    }
    if (count === undefined) return errors
    const atMost = (max: number, what: string): FieldError[] => {
      if (count <= max) return []
      return [fieldInvalid(at('succeededCount'), count, `must be less than or equal to ${max} (the number of ${what})`)]
    }
    errors.push(...checkNotNegative(count, at('succeededCount')), ...atMost(completions, 'specified completions'))
    if (!hasIndexes) return errors
    const total = indexes.ok ? countIndexes(indexes.value) : 0
    return [...errors, ...atMost(total, 'indexes in the specified succeededIndexes field')]
  }

/** Rules for `successPolicy` of the spec of a job. */
export const successPolicy: Rule = (spec, old, path, errors) => {
  if (!has(spec, 'successPolicy')) return
  if (stringAt(spec, 'completionMode') !== 'Indexed') {
    const shown = asGoStruct('batch/v1.SuccessPolicy', objectAt(spec, 'successPolicy'))
    errors.push(fieldInvalid(childPath(path, 'successPolicy'), shown, 'requires indexed completion mode'))
    return
  }
  optional('successPolicy', [
    required('rules', 'at least one rules must be specified when the successPolicy is specified'),
    maxItems('rules', MAX_RULES),
    each('rules', [check(checkSuccessRule(numberAt(spec, 'completions')))]),
  ])(spec, old, path, errors)
}
