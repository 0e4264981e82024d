// Disruption budgets: how many of some pods must be there, or may be gone, at any time.
import { asStruct, type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkAtMaxAll, checkCount, checkCounts } from '../apps/pod-owner.js'
import { checkConditions } from '../common/conditions.js'
import { checkOneOf } from '../common/field-checks.js'
import { checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

export const disruptionBudgetValidation: Validation = {
  create: budget => checkSpec(objectAt(budget, 'spec')),
  update: (budget, old) => [...checkMetaUpdate(budget, old), ...checkSpec(objectAt(budget, 'spec'))],
  status: (budget, old) => [...checkMetaUpdate(budget, old), ...checkStatus(objectAt(budget, 'status'))],
}

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget']

function checkSpec(spec: ValueObject): FieldError[] {
  const selector = objectOrNone(spec, 'selector')
  return [
    ...checkEither(spec),
    ...['minAvailable', 'maxUnavailable'].flatMap(field => {
      const count = getOwn(spec, field) ?? null
      if (count === null) return []
      return [checkCount(count, `spec.${field}`), checkAtMaxAll(count, `spec.${field}`)].flat()
    }),
    ...(selector === undefined ? [] : checkLabelSelector(selector, 'spec.selector')),
    ...(has(spec, 'unhealthyPodEvictionPolicy')
      ? checkOneOf(stringAt(spec, 'unhealthyPodEvictionPolicy'), EVICTION_POLICIES, 'spec.unhealthyPodEvictionPolicy')
      : []),
  ]
}

function checkEither(spec: ValueObject): FieldError[] {
  if (!has(spec, 'minAvailable') || !has(spec, 'maxUnavailable')) return []
  const shown = asStruct({
    MinAvailable: spec['minAvailable']!,
    Selector: getOwn(spec, 'selector') ?? null,
    MaxUnavailable: spec['maxUnavailable']!,
    UnhealthyPodEvictionPolicy: getOwn(spec, 'unhealthyPodEvictionPolicy') ?? null,
  })
  return [fieldInvalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set')]
}

const checkStatus = (status: ValueObject): FieldError[] => [
  ...checkConditions(objectsAt(status, 'conditions'), 'status.conditions'),
  ...checkCounts(status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'], 'status'),
]
