// Checks a request against the quotas of its namespace, and computes their usage after it.

import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
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
import type { QuotaEvaluator, ScopeSelector } from './quota-evaluator.js'

/** The new usage of each quota that the request changes, by name. Throws a 403 if a quota is exceeded. */
export function checkQuotas(
  quotas: readonly ApiObject[],
  attributes: Attributes,
  evaluator: QuotaEvaluator,
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
  const deltaOf = (quota: ApiObject): Amounts =>
    old && matches(quota, old, evaluator) ? increase(usage, evaluator.usage(old, now)) : usage
  const updates = new Map<string, Amounts>()
  for (const quota of matching) {
    const used = charge(quota, deltaOf(quota), attributes)
    if (used) updates.set(metaOf(quota).name ?? '', used)
  }
  return updates
}

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
    ...objectsAt(objectAt(spec, 'scopeSelector'), 'matchExpressions').map(each => ({
      scopeName: stringAt(each, 'scopeName'),
      operator: stringAt(each, 'operator'),
      values: stringsAt(each, 'values'),
    })),
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
