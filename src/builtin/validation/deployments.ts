// Deployments: a selector that finds the pods of the template, and how to get from one set of pods to the next.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/field-errors.js'
import { checkLabelSelector, matchesLabels, selectorOf } from '../../meta/label-selectors.js'
import { checkPercent } from '../../meta/names.js'
import { getOwn, type Value, type ValueObject } from '../../meta/value.js'
import { has, mapAt, numberAt, numberOrNone, objectAt, objectOrNone, textAt } from '../object-access.js'
import { checkMeta, checkMetaUpdate, checkNotNegative, checkText, sameValue, type Validation } from './common-rules.js'
import { checkPodTemplate } from './pods.js'

export const deploymentValidation: Validation = {
  create: deployment => [...checkMeta(deployment, { namespaced: true }), ...checkSpec(objectAt(deployment, 'spec'))],
  update: (deployment, old) => [
    ...checkMetaUpdate(deployment, old),
    ...checkSpec(objectAt(deployment, 'spec')),
    ...checkSelectorKept(deployment, old),
  ],
  status: (deployment, old) => [...checkMetaUpdate(deployment, old), ...checkStatus(objectAt(deployment, 'status'))],
}

function checkSpec(spec: ValueObject): FieldError[] {
  const minReady = numberAt(spec, 'minReadySeconds')
  const deadline = numberOrNone(spec, 'progressDeadlineSeconds')
  const errors = [
    ...checkNotNegative(numberAt(spec, 'replicas'), 'spec.replicas'),
    ...checkSelector(spec),
    ...checkStrategy(objectAt(spec, 'strategy')),
    ...checkNotNegative(minReady, 'spec.minReadySeconds'),
    ...checkNotNegative(numberAt(spec, 'revisionHistoryLimit'), 'spec.revisionHistoryLimit'),
  ]
  if (deadline !== undefined) {
    errors.push(...checkNotNegative(deadline, 'spec.progressDeadlineSeconds'))
    if (deadline <= minReady) {
      errors.push(fieldInvalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'))
    }
  }
  return errors
}

function checkSelector(spec: ValueObject): FieldError[] {
  const object = objectOrNone(spec, 'selector')
  const path = 'spec.selector'
  const errors: FieldError[] = []
  if (object === undefined) errors.push(fieldRequired(path))
  else {
    errors.push(...checkLabelSelector(object, path))
    if (!has(object, 'matchLabels') && !has(object, 'matchExpressions')) {
      errors.push(fieldInvalid(path, asStruct(object), 'empty selector is invalid for deployment'))
    }
  }
  const selector = selectorOf(object)
  if (!selector.ok) return [...errors, fieldInvalid(path, asStruct(object ?? null), 'invalid label selector')]
  return [...errors, ...checkTemplate(objectAt(spec, 'template'), labels => matchesLabels(selector.value, labels))]
}

function checkTemplate(
  template: ValueObject,
  matches: (labels: Readonly<Record<string, string>>) => boolean,
): FieldError[] {
  const path = 'spec.template'
  const spec = objectAt(template, 'spec')
  const meta = objectAt(template, 'metadata')
  const errors: FieldError[] = []
  if (!matches(mapAt(meta, 'labels'))) {
    const labels: Value = getOwn(meta, 'labels') ?? null
    errors.push(fieldInvalid(`${path}.metadata.labels`, labels, '`selector` does not match template `labels`'))
  }
  errors.push(...checkPodTemplate(template, path))
  const restart = textAt(spec, 'restartPolicy')
  if (restart !== 'Always') errors.push(fieldNotSupported(`${path}.spec.restartPolicy`, restart, ['Always']))
  if (has(spec, 'activeDeadlineSeconds')) {
    const why = 'activeDeadlineSeconds in ReplicaSet is not Supported'
    errors.push(fieldForbidden(`${path}.spec.activeDeadlineSeconds`, why))
  }
  return errors
}

function checkStrategy(strategy: ValueObject): FieldError[] {
  const path = 'spec.strategy'
  const rolling = objectOrNone(strategy, 'rollingUpdate')
  const at = childPath(path, 'rollingUpdate')
  switch (textAt(strategy, 'type')) {
    case 'Recreate':
      return rolling === undefined
        ? []
        : [fieldForbidden(at, "may not be specified when strategy `type` is 'Recreate'")]
    case 'RollingUpdate':
      return rolling === undefined
        ? [fieldRequired(at, 'this should be defaulted and never be nil')]
        : checkRolling(rolling, at)
    default: {
      const shown: Value = { Type: textAt(strategy, 'type'), RollingUpdate: getOwn(strategy, 'rollingUpdate') ?? null }
      return [fieldNotSupported(path, asStruct(shown), ['Recreate', 'RollingUpdate'])]
    }
  }
}

function checkRolling(rolling: ValueObject, path: string): FieldError[] {
  const unavailable = getOwn(rolling, 'maxUnavailable') ?? 0
  const surge = getOwn(rolling, 'maxSurge') ?? 0
  const at = childPath(path, 'maxUnavailable')
  const errors = [...checkCount(unavailable, at), ...checkCount(surge, childPath(path, 'maxSurge'))]
  if (countOrPercent(unavailable) === 0 && countOrPercent(surge) === 0) {
    errors.push(fieldInvalid(at, unavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  if (typeof unavailable === 'string' && checkPercent(unavailable).length === 0 && countOrPercent(unavailable) > 100) {
    errors.push(fieldInvalid(at, unavailable, 'must not be greater than 100%'))
  }
  return errors
}

const checkCount = (count: Value, path: string): FieldError[] =>
  typeof count === 'string' ? checkText(count, checkPercent, path) : checkNotNegative(Number(count), path)

/** The number, or that of the percentage; 0 for what is neither. */
function countOrPercent(count: Value): number {
  if (typeof count !== 'string') return Number(count)
  return checkPercent(count).length === 0 ? Number(count.slice(0, -1)) : 0
}

function checkSelectorKept(deployment: ValueObject, old: ValueObject): FieldError[] {
  const selector = getOwn(objectAt(deployment, 'spec'), 'selector') ?? null
  return sameValue(selector, getOwn(objectAt(old, 'spec'), 'selector'))
    ? []
    : [fieldInvalid('spec.selector', asStruct(selector), 'field is immutable')]
}

function checkStatus(status: ValueObject): FieldError[] {
  const counts = ['observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas']
  const errors = [...counts, 'unavailableReplicas', 'collisionCount'].flatMap(field =>
    checkNotNegative(numberAt(status, field), `status.${field}`),
  )
  const notAbove = (field: string, most: string, told: string): void => {
    const value = numberAt(status, field)
    if (value > numberAt(status, most)) {
      errors.push(fieldInvalid(`status.${field}`, value, `cannot be greater than ${told}`))
    }
  }
  for (const field of ['updatedReplicas', 'readyReplicas', 'availableReplicas']) {
    notAbove(field, 'replicas', 'status.replicas')
  }
  notAbove('availableReplicas', 'readyReplicas', 'readyReplicas')
  return errors
}
