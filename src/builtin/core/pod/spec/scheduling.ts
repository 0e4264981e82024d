// Where a pod may run: tolerations, scheduling gates, affinity and topology spread.
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from '../../../../meta/object/names.js'
import { checkLabelSelector } from '../../../../meta/selectors/label-selectors.js'
import {
  has,
  mapAt,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkOneOf, checkText } from '../../../common/field-checks.js'
import { check, each, eachString, field, ifSet, oneOf, optional, type Rule, when } from '../../../common/rules.js'
import { TAINT_EFFECTS } from '../../node.js'

// ---- tolerations

const TOLERATION_OPERATORS = ['Equal', 'Exists']

export const checkTolerations = (spec: ValueObject, path: string): FieldError[] =>
  objectsAt(spec, 'tolerations').flatMap((toleration, i) => checkToleration(toleration, indexPath(path, i)))

function checkToleration(toleration: ValueObject, path: string): FieldError[] {
  const [key, operator] = [stringAt(toleration, 'key'), stringAt(toleration, 'operator')]
  const [value, effect] = [stringAt(toleration, 'value'), stringAt(toleration, 'effect')]
  const operatorPath = childPath(path, 'operator')
  const effectPath = childPath(path, 'effect')
  const errors = key === '' ? [] : checkText(key, checkQualifiedName, childPath(path, 'key'))
  if (key === '' && operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(fieldInvalid(operatorPath, asTypedText(operator), why))
  }
  if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    const why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
    errors.push(fieldInvalid(effectPath, asTypedText(effect), why))
  }
  switch (operator) {
    case '':
    case 'Equal': {
      const messages = checkLabelValue(value)
      if (messages.length > 0) errors.push(fieldInvalid(operatorPath, value, messages.join(';')))
      break
    }
    case 'Exists':
      if (value !== '')
        errors.push(fieldInvalid(operatorPath, value, "value must be empty when `operator` is 'Exists'"))
      break
    case 'Lt':
    case 'Gt':
      // Comparisons are behind a feature gate that is off; the message lists them nevertheless.
      errors.push(fieldNotSupported(operatorPath, operator, [...TOLERATION_OPERATORS, 'Lt', 'Gt']))
      break
    default:
      errors.push(fieldNotSupported(operatorPath, operator, TOLERATION_OPERATORS))
  }
  return effect === '' ? errors : [...errors, ...checkOneOf(effect, TAINT_EFFECTS, effectPath)]
}

// ---- gates

export const schedulingGates: Rule = check((spec, path) => {
  const seen = new Set<string>()
  return objectsAt(spec, 'schedulingGates').flatMap((gate, i) => {
    const at = indexPath(childPath(path, 'schedulingGates'), i)
    const name = stringAt(gate, 'name')
    const errors = checkText(name, checkQualifiedName, at)
    if (seen.has(name)) errors.push(fieldDuplicate(at, name))
    seen.add(name)
    return errors
  })
})

export const readinessGates: Rule = each('readinessGates', [
  check((gate, path) =>
    checkText(stringAt(gate, 'conditionType'), checkQualifiedName, childPath(path, 'conditionType')),
  ),
])

// ---- node affinity

function checkLabelRequirement(requirement: ValueObject, path: string, checkValues: boolean): FieldError[] {
  const operator = stringAt(requirement, 'operator')
  const values = stringsAt(requirement, 'values')
  const valuesPath = childPath(path, 'values')
  const errors: FieldError[] = []
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        errors.push(fieldRequired(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"))
      }
      break
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        errors.push(fieldForbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
      }
      break
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        errors.push(fieldRequired(valuesPath, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
      }
      break
    default:
      errors.push(fieldInvalid(childPath(path, 'operator'), asTypedText(operator), 'not a valid selector operator'))
  }
  errors.push(...checkText(stringAt(requirement, 'key'), checkQualifiedName, childPath(path, 'key')))
  if (!checkValues) return errors
  return [...errors, ...values.flatMap((value, i) => checkText(value, checkLabelValue, indexPath(valuesPath, i)))]
}

function checkFieldRequirement(requirement: ValueObject, path: string): FieldError[] {
  const operator = stringAt(requirement, 'operator')
  const key = stringAt(requirement, 'key')
  const values = stringsAt(requirement, 'values')
  const valuesPath = childPath(path, 'values')
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(fieldInvalid(childPath(path, 'operator'), asTypedText(operator), 'not a valid selector operator'))
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    errors.push(fieldRequired(valuesPath, why))
  }
  if (key !== 'metadata.name') {
    return [...errors, fieldInvalid(childPath(path, 'key'), key, 'not a valid field selector key')]
  }
  return [...errors, ...values.flatMap((value, i) => checkText(value, checkDnsSubdomain, indexPath(valuesPath, i)))]
}

/** `checkValues` is false for preferences, which may name values that no label can have. */
const nodeSelectorTerm = (checkValues: boolean): readonly Rule[] => [
  each('matchExpressions', [check((requirement, path) => checkLabelRequirement(requirement, path, checkValues))]),
  each('matchFields', [check(checkFieldRequirement)]),
]

const weight = check((term, path) => {
  const given = numberAt(term, 'weight')
  if (given >= 1 && given <= 100) return []
  return [fieldInvalid(childPath(path, 'weight'), given, 'must be in the range 1-100')]
})

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

/** The selector of a required node affinity, also that of a persistent volume. */
export const nodeSelectorRules: readonly Rule[] = [
  check((selector, path) =>
    objectsAt(selector, 'nodeSelectorTerms').length === 0
      ? [fieldRequired(childPath(path, 'nodeSelectorTerms'), 'must have at least one node selector term')]
      : [],
  ),
  each('nodeSelectorTerms', nodeSelectorTerm(true)),
]

const nodeAffinityRules: readonly Rule[] = [
  optional(REQUIRED, nodeSelectorRules),
  each(PREFERRED, [weight, field('preference', nodeSelectorTerm(false))]),
]

// ---- pod affinity

const selectorAt = (name: string): Rule => optional(name, [check((given, path) => checkLabelSelector(given, path))])

/** Keys of labels whose values the pod itself has. */
const labelKeys = (name: string): Rule =>
  when(
    term => stringsAt(term, name).length > 0,
    [
      check((term, path) =>
        has(term, 'labelSelector')
          ? []
          : [fieldForbidden(childPath(path, name), 'must not be specified when labelSelector is not set')],
      ),
      ifSet('labelSelector', [eachString(name, (key, path) => checkText(key, checkQualifiedName, path))]),
    ],
  )

const IN_BOTH = 'exists in both matchLabelKeys and labelSelector'

/**
 * A key is not selected otherwise, too. The selector has a requirement for each key already, so a second one is the
 * user's own. kube-apiserver's errors have the index at the term.
 */
const keysNotSelected = ifSet('labelSelector', [
  check((term, path) => {
    const lastIndex = new Map(stringsAt(term, 'matchLabelKeys').map((key, i) => [key, i]))
    const selector = objectAt(term, 'labelSelector')
    const seen = new Set(Object.keys(objectAt(selector, 'matchLabels')))
    return objectsAt(selector, 'matchExpressions').flatMap(expression => {
      const key = stringAt(expression, 'key')
      const index = lastIndex.get(key)
      const isRepeated = seen.has(key)
      seen.add(key)
      return index !== undefined && isRepeated ? [fieldInvalid(indexPath(path, index), key, IN_BOTH)] : []
    })
  }),
])

const topologyKey = check((term, path) =>
  stringAt(term, 'topologyKey') === '' ? [fieldRequired(childPath(path, 'topologyKey'), 'can not be empty')] : [],
)

const podAffinityTermRules: readonly Rule[] = [
  selectorAt('labelSelector'),
  selectorAt('namespaceSelector'),
  // kube-apiserver's errors name `namespace`, without an index.
  check((term, path) =>
    stringsAt(term, 'namespaces').flatMap(name => checkText(name, checkDnsLabel, childPath(path, 'namespace'))),
  ),
  labelKeys('matchLabelKeys'),
  labelKeys('mismatchLabelKeys'),
  keysNotSelected,
  check((term, path) => {
    const others = new Set(stringsAt(term, 'mismatchLabelKeys'))
    return stringsAt(term, 'matchLabelKeys').flatMap((key, i) =>
      others.has(key)
        ? [fieldInvalid(`${path}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys')]
        : [],
    )
  }),
  topologyKey,
  check((term, path) => checkText(stringAt(term, 'topologyKey'), checkQualifiedName, childPath(path, 'topologyKey'))),
]

const podAffinityRules: readonly Rule[] = [
  each(REQUIRED, podAffinityTermRules),
  each(PREFERRED, [weight, field('podAffinityTerm', podAffinityTermRules)]),
]

export const affinity: Rule = optional('affinity', [
  optional('nodeAffinity', nodeAffinityRules),
  optional('podAffinity', podAffinityRules),
  optional('podAntiAffinity', podAffinityRules),
])

// ---- topology spread

const positive = (name: string): Rule =>
  check((constraint, path) => {
    const given = numberAt(constraint, name)
    return given > 0 ? [] : [fieldInvalid(childPath(path, name), given, 'must be greater than zero')]
  })

const minDomains = ifSet('minDomains', [
  positive('minDomains'),
  check((constraint, path) => {
    const action = stringAt(constraint, 'whenUnsatisfiable')
    if (action === 'DoNotSchedule') return []
    const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`
    return [fieldInvalid(childPath(path, 'minDomains'), numberAt(constraint, 'minDomains'), why)]
  }),
])

const NODE_POLICIES = ['Honor', 'Ignore']

const idOfConstraint = (constraint: ValueObject): string =>
  `{${stringAt(constraint, 'topologyKey')}, ${stringAt(constraint, 'whenUnsatisfiable')}}`

const firstRules: readonly Rule[] = [
  positive('maxSkew'),
  topologyKey,
  oneOf('whenUnsatisfiable', ['DoNotSchedule', 'ScheduleAnyway']),
]

const otherRules: readonly Rule[] = [
  minDomains,
  ifSet('nodeAffinityPolicy', [oneOf('nodeAffinityPolicy', NODE_POLICIES)]),
  ifSet('nodeTaintsPolicy', [oneOf('nodeTaintsPolicy', NODE_POLICIES)]),
  labelKeys('matchLabelKeys'),
  (constraint, old, path, errors) => {
    const found: FieldError[] = []
    keysNotSelected(constraint, old, path, found)
    errors.push(...found.map(error => Object.assign(error, { gate: SELECTOR_MERGE })))
  },
  selectorAt('labelSelector'),
]

/** The feature gate with which `matchLabelKeys` of topology spread become requirements of the selector. */
export const SELECTOR_MERGE = 'MatchLabelKeysInPodTopologySpreadSelectorMerge'

export const topologySpread: Rule = (spec, _, path, errors) => {
  const constraints = objectsAt(spec, 'topologySpreadConstraints')
  const ids = constraints.map(idOfConstraint)
  const last = new Map(ids.map((id, i) => [id, i]))
  for (const [i, constraint] of constraints.entries()) {
    const at = indexPath(childPath(path, 'topologySpreadConstraints'), i)
    for (const rule of firstRules) rule(constraint, undefined, at, errors)
    // Of constraints with one key and one action, all but the last are reported.
    if (last.get(ids[i]!) !== i) errors.push(fieldDuplicate(`${at}.{topologyKey, whenUnsatisfiable}`, ids[i]))
    for (const rule of otherRules) rule(constraint, undefined, at, errors)
  }
}

/** Without that gate the selector has requirements of the user only, none of which may be about such a key. */
export const selectedSpreadKeys = (spec: ValueObject, path: string): FieldError[] =>
  objectsAt(spec, 'topologySpreadConstraints').flatMap((constraint, i) => {
    const selector = objectAt(constraint, 'labelSelector')
    const expressions = objectsAt(selector, 'matchExpressions').map(expression => stringAt(expression, 'key'))
    const selected = new Set([...Object.keys(objectAt(selector, 'matchLabels')), ...expressions])
    return stringsAt(constraint, 'matchLabelKeys').flatMap((key, n) => {
      const at = `${path}.topologySpreadConstraints[${i}].matchLabelKeys[${n}]`
      return selected.has(key) ? [fieldInvalid(at, key, IN_BOTH)] : []
    })
  })

/** Adds requirements for the values that the pod itself has to the selectors with keys of labels. */
export function mergeLabelKeys(pod: ValueObject, isSpreadMerged = true): void {
  const labels = mapAt(objectAt(pod, 'metadata'), 'labels')
  const spec = objectAt(pod, 'spec')
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap(name => {
    const given = objectAt(objectAt(spec, 'affinity'), name)
    const preferred = objectsAt(given, PREFERRED).map(term => objectAt(term, 'podAffinityTerm'))
    return objectsAt(given, REQUIRED).concat(preferred)
  })
  const constraints = isSpreadMerged ? objectsAt(spec, 'topologySpreadConstraints') : []
  for (const term of [...terms, ...constraints]) {
    const selector = objectOrNone(term, 'labelSelector')
    if (selector === undefined) continue
    const added = [
      ...requirementsOf(stringsAt(term, 'matchLabelKeys'), 'In', labels),
      ...requirementsOf(stringsAt(term, 'mismatchLabelKeys'), 'NotIn', labels),
    ]
    if (added.length > 0) selector['matchExpressions'] = [...objectsAt(selector, 'matchExpressions'), ...added]
  }
}

const requirementsOf = (
  keys: readonly string[],
  operator: string,
  labels: Readonly<Record<string, string>>,
): ValueObject[] =>
  keys.filter(key => Object.hasOwn(labels, key)).map(key => ({ key, operator, values: [labels[key]!] }))

/** The label selectors of a pod affinity that are absent, which match no pod: their paths. */
export function absentAffinitySelectors(spec: ValueObject, path: string): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap(name => {
    const given = objectOrNone(objectAt(spec, 'affinity'), name)
    if (given === undefined) return []
    const at = `${path}.affinity.${name}`
    const required = objectsAt(given, REQUIRED).flatMap((term, i) =>
      has(term, 'labelSelector') ? [] : [`${at}.${REQUIRED}[${i}].labelSelector`],
    )
    const preferred = objectsAt(given, PREFERRED).flatMap((term, i) =>
      has(objectAt(term, 'podAffinityTerm'), 'labelSelector')
        ? []
        : [`${at}.${PREFERRED}[${i}].podAffinityTerm.labelSelector`],
    )
    return required.concat(preferred)
  })
}
