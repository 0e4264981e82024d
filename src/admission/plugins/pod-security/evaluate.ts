// Pod security admission: what the labels of a namespace mean for what is written there. Pods that violate the level
// that is enforced are refused; of those that violate the level to be warned of, and of templates of such pods, whoever
// makes them is told. There is no audit log, so that the level to be audited has no effect.

import { quote } from '../../../meta/go/go-text.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import type { Labels } from '../../../meta/selectors/label-selectors.js'
import { mapAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { PodLike } from './check.js'
import { isStricter, type LevelVersion, type Policy, policyOf, printLevelVersion } from './policy.js'
import { printViolations, violationsOf } from './standard.js'

export interface Verdict {
  /** Why it is refused, if it is. */
  readonly refusal?: string
  readonly warnings: readonly string[]
}

/** What becomes of a pod in a namespace with those labels. */
export function judgePod(labels: Labels, pod: PodLike): Verdict {
  const { policy } = policyOf(labels)
  const violations = violationsOf(policy.enforce, pod)
  if (violations.length === 0) return { warnings: warningsFor(policy, pod) }
  const refusal = `violates PodSecurity ${quote(printLevelVersion(policy.enforce))}: ${printViolations(violations)}`
  return { refusal, warnings: [] }
}

/** Templates are not refused: no pod has been made of them yet. */
export const judgeTemplate = (labels: Labels, pod: PodLike): Verdict => ({
  warnings: warningsFor(policyOf(labels).policy, pod),
})

function warningsFor({ warn }: Policy, pod: PodLike): string[] {
  const violations = violationsOf(warn, pod)
  if (violations.length === 0) return []
  return [`would violate PodSecurity ${quote(printLevelVersion(warn))}: ${printViolations(violations)}`]
}

/** Where the objects of a resource say what their pods look like. */
const TEMPLATES: Readonly<Record<string, readonly string[] | undefined>> = {
  '/podtemplates': ['template'],
  '/replicationcontrollers': ['spec', 'template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/deployments': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'batch/jobs': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
}

/** Whether objects of that resource, as `group/plural`, may hold templates of pods. */
export const hasTemplates = (resource: string): boolean => TEMPLATES[resource] !== undefined

/** The pod that is made after an object of that resource; nothing if it does not say. */
export function templateOf(resource: string, object: ApiObject): PodLike | undefined {
  let template: ValueObject | undefined = object
  for (const field of TEMPLATES[resource] ?? []) template = template && objectOrNone(template, field)
  return template && podLike(template)
}

export const podLike = (pod: ValueObject): PodLike => ({
  annotations: mapAt(objectAt(pod, 'metadata'), 'annotations'),
  spec: objectAt(pod, 'spec'),
})

// ---- changes of pods

/** Whether a change of a pod may make it violate more than before. What else the standards look at never changes. */
export function mattersForSecurity(pod: ApiObject, old: ApiObject): boolean {
  const [now, before] = [podLike(pod), podLike(old)]
  const annotationsDiffer = (key: string): boolean => now.annotations[key] !== before.annotations[key]
  const differs = (container: ValueObject, was: ValueObject | undefined): boolean =>
    !was ||
    stringAt(container, 'image') !== stringAt(was, 'image') ||
    annotationsDiffer(`container.seccomp.security.alpha.kubernetes.io/${stringAt(container, 'name')}`)
  if (annotationsDiffer('seccomp.security.alpha.kubernetes.io/pod')) return true
  for (const field of ['containers', 'initContainers']) {
    const [containers, were] = [objectsAt(now.spec, field), objectsAt(before.spec, field)]
    if (containers.length !== were.length || containers.some((container, i) => differs(container, were[i]))) return true
  }
  const added = objectsAt(before.spec, 'ephemeralContainers')
  return objectsAt(now.spec, 'ephemeralContainers').some(container =>
    differs(
      container,
      added.find(each => stringAt(each, 'name') === stringAt(container, 'name')),
    ),
  )
}

// ---- changes of namespaces

/** The level that the pods of a namespace must keep from now on, if it asks for more than before. */
export function tightened(labels: Labels, oldLabels: Labels): LevelVersion | undefined {
  const now = policyOf(labels).policy.enforce
  const before = policyOf(oldLabels).policy.enforce
  if (now.level === 'privileged' || (now.level === before.level && now.minor === before.minor)) return undefined
  return now.minor === before.minor && !isStricter(now.level, before.level) ? undefined : now
}

/** How many pods are looked at when a namespace asks for more. */
const MAX_PODS = 3000

/** What there is to tell of the pods that a stricter namespace has already. */
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
  const strict = quote(printLevelVersion(level))
  warnings.push(`existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${strict}`)
  return [...warnings, ...[...violators].map(([reasons, names]) => `${printNames(names)}: ${reasons}`).toSorted()]
}

function printNames(names: readonly string[]): string {
  const [first = '', ...others] = names.toSorted()
  if (others.length === 0) return first
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`
}
