// The selector of a PodDisruptionBudget in policy/v1 and in policy/v1beta1, where an empty one finds no pods.
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'

/** A requirement of this key stands for "no pods" in v1 and for "all pods" in v1beta1. Beside others it is dropped. */
const KEY = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
const NO_PODS: ValueObject = { matchExpressions: [{ key: KEY, operator: 'Exists' }] }

export const selectorOfV1 = (selector: ValueObject): ValueObject =>
  equalValues(selector, NO_PODS) ? selector : withoutKey(selector)

export function selectorOfV1beta1(selector: ValueObject): ValueObject {
  const isEmpty =
    objectsAt(selector, 'matchExpressions').length === 0 && Object.keys(objectAt(selector, 'matchLabels')).length === 0
  return isEmpty ? NO_PODS : withoutKey(selector)
}

function withoutKey(selector: ValueObject): ValueObject {
  const all = objectsAt(selector, 'matchExpressions')
  const kept = all.filter(each => stringAt(each, 'key') !== KEY)
  if (kept.length === all.length) return selector
  const { matchExpressions: _, ...rest } = selector
  return kept.length === 0 ? rest : { ...rest, matchExpressions: kept }
}
