// Brings a stored role or binding up to the bootstrap policy at the start, as kube-apiserver does: what is missing is
// added, what administrators have added stays, and an object with autoupdate "false" is left alone.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, type ObjectMeta, withMeta } from '../../meta/object/object-meta.js'
import { equalValues, type Value, type ValueObject } from '../../meta/values/value.js'
import { asBinding, asRole, type PolicyRule, type Role } from '../authz/rbac.js'
import { uncoveredRules } from '../authz/rule-cover.js'

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

/** The object to store; undefined if the stored one is left as it is; `recreate` if a binding is of another role. */
export function reconcilePolicy(stored: ApiObject, expected: ApiObject): ApiObject | 'recreate' | undefined {
  const meta = metaOf(stored)
  if (meta.annotations?.[AUTOUPDATE] === 'false') return undefined
  if (isBinding(expected) && !equalValues(stored['roleRef'], expected['roleRef'])) return 'recreate'
  const changed = isBinding(expected) ? withSubjects(stored, expected) : withRules(stored, expected)
  const object = withMeta(changed, withMarks(meta, metaOf(expected))) as ApiObject
  return equalValues(object, stored) ? undefined : object
}

/** The binding that one was split off from: if only the older is there, the new one is for the same subjects. */
export const SPLIT_FROM: Readonly<Record<string, string>> = { 'system:public-info-viewer': 'system:discovery' }

/** The new binding, with the subjects, labels and annotations of the one that it was split off from. */
export function splitBinding(source: ApiObject, expected: ApiObject): ApiObject {
  const { labels = {}, annotations = {} } = metaOf(source)
  const meta = { ...metaOf(expected), labels, annotations }
  const split = withMeta({ ...expected, subjects: source['subjects'] ?? [] }, meta) as ApiObject
  const reconciled = reconcilePolicy(split, expected)
  return reconciled === undefined || reconciled === 'recreate' ? split : reconciled
}

const isBinding = ({ kind }: ApiObject): boolean => kind.endsWith('Binding')

/** Labels and annotations that are missing; those that are there keep their values. */
const withMarks = (meta: ObjectMeta, { labels, annotations }: ObjectMeta): ObjectMeta => ({
  ...meta,
  labels: { ...labels, ...meta.labels },
  annotations: { ...annotations, ...meta.annotations },
})

function withSubjects(stored: ApiObject, expected: ApiObject): ApiObject {
  const subjects = asBinding(stored).subjects ?? []
  const missing = (asBinding(expected).subjects ?? []).filter(
    subject => !subjects.some(each => equalValues(each as unknown as Value, subject as unknown as Value)),
  )
  return missing.length === 0 ? stored : { ...stored, subjects: [...subjects, ...missing] as unknown as Value }
}

function withRules(stored: ApiObject, expected: ApiObject): ApiObject {
  const [have, want] = [asRole(stored), asRole(expected)]
  const missing = missingRules(stored, expected)
  const object = missing.length === 0 ? stored : { ...stored, rules: joined(have.rules, missing) }
  return withAggregation(object, have, want)
}

/** Equal rules, as almost all are at every start, need not be taken apart. */
const missingRules = (stored: ApiObject, expected: ApiObject): PolicyRule[] =>
  equalValues(stored['rules'] ?? [], expected['rules'] ?? [])
    ? []
    : uncoveredRules(asRole(stored).rules ?? [], asRole(expected).rules ?? [])

const joined = (rules: Role['rules'], missing: readonly PolicyRule[]): Value =>
  [...(rules ?? []), ...missing] as unknown as Value

function withAggregation(object: ApiObject, have: Role, want: Role): ApiObject {
  const { aggregationRule: _, ...plain } = object
  if (!want.aggregationRule) return plain
  const selectors = have.aggregationRule?.clusterRoleSelectors ?? []
  const missing = (want.aggregationRule.clusterRoleSelectors ?? []).filter(
    selector => !selectors.some(each => equalValues(each as unknown as Value, selector as unknown as Value)),
  )
  if (missing.length === 0) return object
  const aggregationRule = { clusterRoleSelectors: [...selectors, ...missing] } as unknown as ValueObject
  return { ...plain, aggregationRule }
}
