// Checks a request against the quotas of its namespace, and computes their usage after it.

import { unclassified } from '../../../meta/errors/status.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringsAt } from '../../../meta/values/access.js'
import {
  compareQuantities,
  printQuantity,
  type Quantity,
  quantityOf,
  signOf,
  subtractQuantities,
} from '../../../meta/values/quantity.js'
import { type Attributes, forbiddenBy } from '../../attributes.js'
import { type Amounts, addAmounts, amountsIn } from '../pod-resources.js'
import type { LimitedResource } from './limited-resources.js'
import { type QuotaEvaluator, readScopeSelector, type ScopeSelector } from './quota-evaluator.js'

/** The new usage of each quota that the request changes, by name. Throws a 403 if a quota is exceeded or missing. */
export function checkQuotas(
  quotas: readonly ApiObject[],
  attributes: Attributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
  now: number,
): ReadonlyMap<string, Amounts> {
  const { object, oldObject, operation } = attributes
  const matching = quotas.filter(quota => matches(quota, object!, evaluator))
  for (const quota of matching) checkMeasurable(quota, attributes, evaluator)
  const usage = evaluator.usage(object!, now)
  const negative = [...usage].filter(([, amount]) => signOf(amount) < 0).map(([name]) => name)
  if (negative.length > 0) {
    throw forbiddenBy(attributes, `quota usage is negative for resource(s): ${negative.toSorted().join(',')}`)
  }
  // A quota that did not count the old object is charged for the whole new one.
  const old = operation === 'UPDATE' ? oldObject : undefined
  const grown = old ? increase(usage, evaluator.usage(old, now)) : usage
  const deltaOf = (quota: ApiObject): Amounts => (old && matches(quota, old, evaluator) ? grown : usage)
  const deltas = matching.length === 0 ? [grown] : matching.map(deltaOf)
  if (deltas.every(delta => [...delta.values()].every(amount => signOf(amount) === 0))) return new Map()
  checkCovered(quotas, matching, attributes, evaluator, limited, usage)
  const updates = new Map<string, Amounts>()
  for (const [i, quota] of matching.entries()) {
    const used = charge(quota, deltas[i]!, attributes)
    if (used) updates.set(metaOf(quota).name ?? '', used)
  }
  return updates
}

/** What is limited by the configuration needs a quota for it. */
function checkCovered(
  quotas: readonly ApiObject[],
  matching: readonly ApiObject[],
  attributes: Attributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
  usage: Amounts,
): void {
  if (limited.length === 0) return
  const { resource, object } = attributes
  const parts = limited
    .filter(each => each.group === resource.group && each.resource === resource.resource)
    .flatMap(({ matchContains }) => matchContains)
  const covered = new Set(matching.flatMap(quota => [...statusOf(quota, 'hard').keys()].filter(evaluator.tracks)))
  const uncovered = [...usage]
    .filter(([name, amount]) => signOf(amount) > 0 && !covered.has(name) && parts.some(part => name.includes(part)))
    .map(([name]) => name)
  if (uncovered.length > 0) {
    throw forbiddenBy(attributes, `insufficient quota to consume: ${uncovered.toSorted().join(',')}`)
  }
  const isIn = (scope: ScopeSelector): boolean => evaluator.isInScope?.(object!, scope) ?? false
  const coveredScopes = new Set(
    quotas
      .flatMap(scopesOf)
      .filter(isIn)
      .map(({ scopeName }) => scopeName),
  )
  const scopes = limited
    .flatMap(({ matchScopes }) => matchScopes)
    .filter(scope => isIn(scope) && !coveredScopes.has(scope.scopeName))
  if (scopes.length > 0) throw unclassified(`insufficient quota to match these scopes: ${printScopes(scopes)}`)
}

/** As Go prints a list of structs. */
const printScopes = (scopes: readonly ScopeSelector[]): string =>
  `[${scopes.map(({ scopeName, operator, values }) => `{${scopeName} ${operator} [${values.join(' ')}]}`).join(' ')}]`

const statusOf = (quota: ApiObject, field: 'hard' | 'used'): Amounts =>
  amountsIn(objectAt(objectAt(quota, 'status'), field))

/** The quota tracks some resource of the object, and the object is in all of its scopes. */
const matches = (quota: ApiObject, object: ApiObject, { tracks, isInScope }: QuotaEvaluator): boolean =>
  [...statusOf(quota, 'hard').keys()].some(tracks) &&
  scopesOf(quota).every(scope => isInScope?.(object, scope) ?? false)

export function scopesOf(quota: ApiObject): ScopeSelector[] {
  const spec = objectAt(quota, 'spec')
  return [
    ...stringsAt(spec, 'scopes').map(scopeName => ({ scopeName, operator: 'Exists', values: [] })),
    ...objectsAt(objectAt(spec, 'scopeSelector'), 'matchExpressions').map(readScopeSelector),
  ]
}

/** The object must set what the quota measures, and the quota must know its present usage. */
function checkMeasurable(quota: ApiObject, attributes: Attributes, evaluator: QuotaEvaluator): void {
  const { name = '' } = metaOf(quota)
  const tracked = [...statusOf(quota, 'hard').keys()].filter(evaluator.tracks)
  const missing = evaluator.missing?.(attributes.object!, tracked)
  if (missing !== undefined) throw forbiddenBy(attributes, `failed quota: ${name}: ${missing}`)
  const used = statusOf(quota, 'used')
  if (tracked.some(resource => !used.has(resource))) {
    throw forbiddenBy(attributes, `status unknown for quota: ${name}, resources: ${tracked.toSorted().join(',')}`)
  }
}

const ZERO = quantityOf(0n)

/** By how much the usage grows; never negative. */
function increase(usage: Amounts, before: Amounts): Amounts {
  const delta = new Map<string, Quantity>()
  for (const [name, amount] of usage) {
    const difference = subtractQuantities(amount, before.get(name) ?? ZERO)
    delta.set(name, signOf(difference) < 0 ? ZERO : difference)
  }
  return delta
}

/** The usage of a quota after the request; undefined if it does not change. */
function charge(quota: ApiObject, delta: Amounts, attributes: Attributes): Amounts | undefined {
  const hard = statusOf(quota, 'hard')
  const used = statusOf(quota, 'used')
  const requested = new Map([...delta].filter(([name, amount]) => hard.has(name) && signOf(amount) !== 0))
  if (requested.size === 0) return undefined
  const after = addAmounts(used, requested)
  const exceeded = [...requested.keys()].filter(name => compareQuantities(after.get(name)!, hard.get(name)!) > 0)
  // A status reports what has happened already, so that it is counted but not refused.
  if (exceeded.length > 0 && attributes.subresource !== 'status') {
    const print = (amounts: Amounts): string => printAmounts(amounts, exceeded)
    throw forbiddenBy(
      attributes,
      `exceeded quota: ${metaOf(quota).name ?? ''}, requested: ${print(requested)}, used: ${print(used)}, limited: ${print(hard)}`,
    )
  }
  return after
}

const printAmounts = (amounts: Amounts, names: readonly string[]): string =>
  names
    .toSorted()
    .flatMap(name => {
      const amount = amounts.get(name)
      return amount ? [`${name}=${printQuantity(amount)}`] : []
    })
    .join(',')
