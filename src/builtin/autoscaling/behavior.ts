// How fast an autoscaler scales up and down: defaults and rules.
import { childPath, fieldInvalid, fieldNotSupported } from '../../meta/errors/field-errors.js'
import { has, numberAt, numberOrNone, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { parseQuantity, printQuantity, signOf } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'
import { check, each, optional, type Rule, required } from '../common/rules.js'

// ---- defaults

const PERIOD_SECONDS = 15
const policy = (type: string, value: number): ValueObject => ({ type, value, periodSeconds: PERIOD_SECONDS })

const scaleUpRules = (): ValueObject => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [policy('Pods', 4), policy('Percent', 100)],
})

const scaleDownRules = (): ValueObject => ({ selectPolicy: 'Max', policies: [policy('Percent', 100)] })

const MEMBERS = ['stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance']

/** An empty list of policies is kept, and refused later. */
const given = (rules: ValueObject): ValueObject =>
  Object.fromEntries(MEMBERS.flatMap(name => (asGiven(rules, name) === null ? [] : [[name, asGiven(rules, name)]])))

/** A behavior that says something about one direction gets defaults for both. */
export function defaultBehavior(spec: ValueObject): void {
  const behavior = objectOrNone(spec, 'behavior')
  if (behavior === undefined) return
  behavior['scaleUp'] = { ...scaleUpRules(), ...given(objectAt(behavior, 'scaleUp')) }
  behavior['scaleDown'] = { ...scaleDownRules(), ...given(objectAt(behavior, 'scaleDown')) }
}

// ---- validation

const SELECT_POLICIES = ['Disabled', 'Max', 'Min']
const POLICY_TYPES = ['Percent', 'Pods']
const MAX_WINDOW_SECONDS = 3600
const MAX_PERIOD_SECONDS = 1800

const window = check((rules, path) => {
  const seconds = numberOrNone(rules, 'stabilizationWindowSeconds') ?? 0
  const at = childPath(path, 'stabilizationWindowSeconds')
  if (seconds < 0) return [fieldInvalid(at, seconds, 'must be greater than or equal to zero')]
  if (seconds <= MAX_WINDOW_SECONDS) return []
  return [fieldInvalid(at, seconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`)]
})

const oneOf = (name: string, supported: readonly string[], { isOptional = false } = {}): Rule =>
  check((rules, path) => {
    const value = stringAt(rules, name)
    if ((isOptional && !has(rules, name)) || supported.includes(value)) return []
    return [fieldNotSupported(childPath(path, name), value, supported)]
  })

const positive = (name: string): Rule =>
  check((object, path) => {
    const value = numberAt(object, name)
    return value > 0 ? [] : [fieldInvalid(childPath(path, name), value, 'must be greater than zero')]
  })

const policyRules: readonly Rule[] = [
  oneOf('type', POLICY_TYPES),
  positive('value'),
  positive('periodSeconds'),
  check((object, path) => {
    const period = numberAt(object, 'periodSeconds')
    if (period <= MAX_PERIOD_SECONDS) return []
    return [
      fieldInvalid(childPath(path, 'periodSeconds'), period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`),
    ]
  }),
]

const tolerance = check((rules, path) => {
  const amount = parseQuantity(stringAt(rules, 'tolerance'))
  if (!amount.ok || signOf(amount.value) >= 0) return []
  const at = childPath(path, 'tolerance')
  return [fieldInvalid(at, printQuantity(amount.value), 'must be greater than or equal to 0')]
})

const scalingRules: readonly Rule[] = [
  window,
  oneOf('selectPolicy', SELECT_POLICIES, { isOptional: true }),
  required('policies', 'must specify at least one Policy'),
  each('policies', policyRules),
  tolerance,
]

/** Rules for `behavior` of a spec. */
export const behavior: Rule = optional('behavior', [
  optional('scaleUp', scalingRules),
  optional('scaleDown', scalingRules),
])
