// Labels of nodes that were renamed, and warnings about selectors that name them.
import { checkLabelValue } from '../../../../meta/object/names.js'
import { objectsAt, stringAt, stringsAt } from '../../../../meta/values/access.js'
import { isObject, type Value, type ValueObject } from '../../../../meta/values/value.js'

const DEPRECATED_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

/** Labels that have a successor which means the same. */
const SUCCESSORS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/** A copy of a value in which requirements name the successors of their labels. */
export function withSuccessors(value: Value): Value {
  if (Array.isArray(value)) return value.map(withSuccessors)
  if (!isObject(value)) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withSuccessors(member)]))
  const key = stringAt(value, 'key')
  return Object.hasOwn(SUCCESSORS, key) ? { ...copy, key: SUCCESSORS[key]! } : copy
}

/** What to use in place of a label; undefined for a label that is not deprecated. */
export const deprecatedLabel = (label: string): string | undefined =>
  Object.hasOwn(DEPRECATED_LABELS, label) ? DEPRECATED_LABELS[label] : undefined

/** Warnings about a term of a node selector. `checkValues`: also about values that no label can have. */
export const deprecatedLabelWarnings = (term: ValueObject, path: string, { checkValues = false } = {}): string[] =>
  objectsAt(term, 'matchExpressions').flatMap((expression, i) => {
    const key = stringAt(expression, 'key')
    const message = deprecatedLabel(key)
    const at = `${path}.matchExpressions[${i}]`
    const deprecated = message === undefined ? [] : [`${at}.key: ${key} is ${message}`]
    const values = checkValues ? stringsAt(expression, 'values') : []
    return deprecated.concat(
      values.flatMap((value, j) =>
        checkLabelValue(value).map(why => `${at}.values[${j}]: ${value} is invalid, ${why}`),
      ),
    )
  })
