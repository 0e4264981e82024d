// Evaluates pods, pod templates and changed namespaces against the levels that a namespace's labels set. The `enforce`
// level refuses pods, the `warn` level gives warnings, the `audit` level adds a line to the audit log.

import { quote } from '../../../meta/go/go-text.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { mapAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../meta/values/access.js'
import { firstByKey } from '../../../meta/values/list-keys.js'
import { getOwn, type ValueObject } from '../../../meta/values/value.js'
import type { PodLike } from './check.js'
import { isStricter, type LevelVersion, type Policy, printLevelVersion } from './policy.js'
import { printViolations, violationsOf } from './standard.js'

export interface Evaluation {
  /** Why the pod is refused, if it is. */
  readonly refusal?: string
  readonly warnings: readonly string[]
}

/** Called for each evaluation of a mode that counts. `violation`: what is violated, for the audit log. */
export type Evaluated = (isAllowed: boolean, level: LevelVersion, mode: keyof Policy, violation?: string) => void

/** Evaluates a pod by the policy of its namespace. */
export function evaluatePod(policy: Policy, pod: PodLike, evaluated: Evaluated): Evaluation {
  const violations = violationsOf(policy.enforce, pod)
  evaluated(violations.length === 0, policy.enforce, 'enforce')
  if (violations.length === 0) return { warnings: evaluateTemplate(policy, pod, evaluated) }
  countAudit(policy, pod, evaluated)
  const refusal = `violates PodSecurity ${quote(printLevelVersion(policy.enforce))}: ${printViolations(violations)}`
  return { refusal, warnings: [] }
}

/** The warnings for a template. Templates are never refused; the pods created from them are. */
export function evaluateTemplate(policy: Policy, pod: PodLike, evaluated: Evaluated): string[] {
  const { warn } = policy
  countAudit(policy, pod, evaluated)
  const violations = violationsOf(warn, pod)
  if (violations.length === 0) return []
  evaluated(false, warn, 'warn')
  return [wouldViolate(warn, violations)]
}

const wouldViolate = (level: LevelVersion, violations: ReturnType<typeof violationsOf>): string =>
  `would violate PodSecurity ${quote(printLevelVersion(level))}: ${printViolations(violations)}`

function countAudit({ audit }: Policy, pod: PodLike, evaluated: Evaluated): void {
  const violations = violationsOf(audit, pod)
  if (violations.length > 0) evaluated(false, audit, 'audit', wouldViolate(audit, violations))
}

/** The field that holds the pod template, by resource. */
const TEMPLATE_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['podtemplates', ['template']],
  ['replicationcontrollers', ['spec', 'template']],
  ['replicasets.apps', ['spec', 'template']],
  ['deployments.apps', ['spec', 'template']],
  ['statefulsets.apps', ['spec', 'template']],
  ['daemonsets.apps', ['spec', 'template']],
  ['jobs.batch', ['spec', 'template']],
  ['cronjobs.batch', ['spec', 'jobTemplate', 'spec', 'template']],
])

/** The resources with a pod template, as `resource.group`. */
export const TEMPLATE_RESOURCES: readonly string[] = [...TEMPLATE_FIELDS.keys()]

/** The pod template of an object; undefined if it has none. */
export function templateOf(resource: string, object: ApiObject): PodLike | undefined {
  const fields = TEMPLATE_FIELDS.get(resource)
  if (!fields) return undefined
  let template: ValueObject | undefined = object
  for (const field of fields) template = template && objectOrNone(template, field)
  return template && podLike(template)
}

export const podLike = (pod: ValueObject): PodLike => ({
  annotations: mapAt(objectAt(pod, 'metadata'), 'annotations'),
  spec: objectAt(pod, 'spec'),
})

// ---- changes of pods

/** Whether an update may add violations. The other fields that the standards check are immutable. */
export function changesSecurity(pod: ApiObject, old: ApiObject): boolean {
  const [now, before] = [podLike(pod), podLike(old)]
  const annotationsDiffer = (key: string): boolean => getOwn(now.annotations, key) !== getOwn(before.annotations, key)
  const differs = (container: ValueObject, was: ValueObject | undefined): boolean =>
    !was ||
    stringAt(container, 'image') !== stringAt(was, 'image') ||
    annotationsDiffer(`container.seccomp.security.alpha.kubernetes.io/${stringAt(container, 'name')}`)
  if (annotationsDiffer('seccomp.security.alpha.kubernetes.io/pod')) return true
  for (const field of ['containers', 'initContainers']) {
    const [containers, were] = [objectsAt(now.spec, field), objectsAt(before.spec, field)]
    if (containers.length !== were.length || containers.some((container, i) => differs(container, were[i]))) return true
  }
  const nameOf = (container: ValueObject): string => stringAt(container, 'name')
  const added = firstByKey(objectsAt(before.spec, 'ephemeralContainers'), nameOf)
  return objectsAt(now.spec, 'ephemeralContainers').some(container => differs(container, added.get(nameOf(container))))
}

// ---- changes of namespaces

/** The new `enforce` level, if it is stricter than the old one or of another version. */
export function tightenedLevel({ enforce: now }: Policy, { enforce: before }: Policy): LevelVersion | undefined {
  if (now.level === 'privileged' || (now.level === before.level && now.minor === before.minor)) return undefined
  return now.minor === before.minor && !isStricter(now.level, before.level) ? undefined : now
}

/** At most this many pods are checked when a namespace's level becomes stricter. */
const MAX_PODS = 3000

/** The warnings about existing pods that violate a new level. */
export function existingViolations(namespace: string, pods: readonly ApiObject[], level: LevelVersion): string[] {
  const checked = pods.slice(0, MAX_PODS)
  const violators = new Map<string, string[]>()
  for (const pod of checked) {
    const reasons = violationsOf(level, podLike(pod))
      .map(({ reason }) => reason)
      .join(', ')
    if (reasons === '') continue
    const names = violators.get(reasons) ?? []
    violators.set(reasons, names)
    names.push(metaOf(pod).name ?? '')
  }
  const warnings: string[] = []
  if (checked.length < pods.length) {
    const counts = `${checked.length} of ${pods.length}`
    warnings.push(`new PodSecurity enforce level only checked against the first ${counts} existing pods`)
  }
  if (violators.size === 0) return warnings
  const printed = quote(printLevelVersion(level))
  warnings.push(`existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${printed}`)
  return [...warnings, ...[...violators].map(([reasons, names]) => `${printNames(names)}: ${reasons}`).toSorted()]
}

function printNames(names: readonly string[]): string {
  const [first = '', ...rest] = names.toSorted()
  if (rest.length === 0) return first
  return `${first} (and ${rest.length} other ${rest.length === 1 ? 'pod' : 'pods'})`
}
