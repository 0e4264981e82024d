// PodDisruptionBudget: how many of some pods must be available, or may be unavailable, when pods are evicted.
import { asStruct, childPath, fieldInvalid } from '../../meta/errors/field-errors.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { has, numberAt, numberOrNone, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { getOwn } from '../../meta/values/value.js'
import { checkAtMaxAll, checkCount } from '../apps/pod-owner.js'
import { checkConditions } from '../common/conditions.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf } from '../common/field-checks.js'
import { check, field, notNegative, optional, type Rule } from '../common/rules.js'
import { counted } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { selectorOfV1 } from './budget-selector.js'

// ---- validation

const oneCount = check((spec, path) => {
  if (!has(spec, 'minAvailable') || !has(spec, 'maxUnavailable')) return []
  const shown = asStruct({
    MinAvailable: spec['minAvailable']!,
    Selector: getOwn(spec, 'selector') ?? null,
    MaxUnavailable: spec['maxUnavailable']!,
    UnhealthyPodEvictionPolicy: getOwn(spec, 'unhealthyPodEvictionPolicy') ?? null,
  })
  return [fieldInvalid(path, shown, 'minAvailable and maxUnavailable cannot be both set')]
})

/** A number, or a percentage of no more than 100. */
const count = (name: string): Rule =>
  check((spec, path) => {
    const given = getOwn(spec, name) ?? null
    const at = childPath(path, name)
    return given === null ? [] : [...checkCount(given, at), ...checkAtMaxAll(given, at)]
  })

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget']

const specRules: readonly Rule[] = [
  oneCount,
  count('minAvailable'),
  count('maxUnavailable'),
  optional('selector', [check((selector, path) => checkLabelSelector(selector, path))]),
  check((spec, path) => {
    const name = 'unhealthyPodEvictionPolicy'
    return has(spec, name) ? checkOneOf(stringAt(spec, name), EVICTION_POLICIES, childPath(path, name)) : []
  }),
]

const statusRules: readonly Rule[] = [
  check((status, path) => checkConditions(objectsAt(status, 'conditions'), childPath(path, 'conditions'))),
  notNegative('disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'),
]

// ---- Table

const row: TableRow = (budget, now) => {
  const spec = objectAt(budget, 'spec')
  const countCell = (name: string): string => stringAt(spec, name) || String(numberOrNone(spec, name) ?? 'N/A')
  return [
    nameOf(budget),
    countCell('minAvailable'),
    countCell('maxUnavailable'),
    numberAt(objectAt(budget, 'status'), 'disruptionsAllowed'),
    ageOf(budget, now),
  ]
}

export const podDisruptionBudget = defineKind('policy/v1', 'PodDisruptionBudget', {
  defaults: budget => {
    const spec = objectAt(budget, 'spec')
    if (has(spec, 'selector')) spec['selector'] = selectorOfV1(objectAt(spec, 'selector'))
  },
  strategy: counted('policy/v1.PodDisruptionBudgetStatus', { allowUnconditionalUpdate: false }),
  validation: validationRules({
    create: [field('spec', specRules)],
    update: [field('spec', specRules)],
    status: [field('status', statusRules)],
  }),
  table: row,
})
