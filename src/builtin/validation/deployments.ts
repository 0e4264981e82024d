// Deployments: how to get from one set of pods to the next.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { numberAt, numberOrNone, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkNotNegative } from './common-rules.js'
import {
  checkAtMaxAll,
  checkCount,
  checkCounts,
  checkSelectorAndTemplate,
  checkStatusCounts,
  countOrPercent,
  podOwnerValidation,
} from './pod-owners.js'

export const deploymentValidation = podOwnerValidation(
  spec => [
    ...checkCounts(spec, ['replicas'], 'spec'),
    ...checkSelectorAndTemplate(spec, { owner: 'deployment', podOwner: 'ReplicaSet' }),
    ...checkStrategy(objectAt(spec, 'strategy')),
    ...checkCounts(spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec'),
    ...checkDeadline(spec),
  ],
  status =>
    checkStatusCounts(
      status,
      ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
      ['observedGeneration', 'unavailableReplicas', 'collisionCount'],
    ),
)

function checkDeadline(spec: ValueObject): FieldError[] {
  const path = 'spec.progressDeadlineSeconds'
  const deadline = numberOrNone(spec, 'progressDeadlineSeconds')
  if (deadline === undefined) return []
  const errors = checkNotNegative(deadline, path)
  if (deadline <= numberAt(spec, 'minReadySeconds')) {
    errors.push(fieldInvalid(path, deadline, 'must be greater than minReadySeconds'))
  }
  return errors
}

function checkStrategy(strategy: ValueObject): FieldError[] {
  const path = 'spec.strategy'
  const rolling = objectOrNone(strategy, 'rollingUpdate')
  const at = childPath(path, 'rollingUpdate')
  switch (stringAt(strategy, 'type')) {
    case 'Recreate':
      return rolling === undefined
        ? []
        : [fieldForbidden(at, "may not be specified when strategy `type` is 'Recreate'")]
    case 'RollingUpdate':
      return rolling === undefined
        ? [fieldRequired(at, 'this should be defaulted and never be nil')]
        : checkRolling(rolling, at)
    default: {
      const shown: Value = {
        Type: stringAt(strategy, 'type'),
        RollingUpdate: getOwn(strategy, 'rollingUpdate') ?? null,
      }
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
  return [...errors, ...checkAtMaxAll(unavailable, at)]
}
