// The priority of a pod is that of its class, or of the class that is the default; there is one such class at most.

import { findSystemClass } from '../../builtin/priority-classes.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { has, numberAt, numberOrNone, objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

/** Why the pod is refused, or the pod with its priority. */
export type Prioritized = { readonly refusal: string } | { readonly pod: ApiObject }

/** What pods have where there is no default. */
const NO_CLASS: ValueObject = { value: 0, preemptionPolicy: 'PreemptLowerPriority' }

/** The class that pods are in that name none: of several, which can only come to be at the same time, the lowest. */
export const defaultClassOf = (classes: readonly ApiObject[]): ApiObject | undefined =>
  classes
    .filter(each => each['globalDefault'] === true)
    .toSorted((a, b) => numberAt(a, 'value') - numberAt(b, 'value'))[0]

/** Sets the priority of a new pod by its class, or by the default where it names none. */
export function setPriority(pod: ApiObject, found: ApiObject | undefined): Prioritized {
  const spec = objectAt(pod, 'spec')
  const made = found ?? NO_CLASS
  const priority = numberAt(made, 'value')
  const policy = stringAt(made, 'preemptionPolicy')
  const told = (what: string, given: string | number, computed: string | number): Prioritized => ({
    refusal: `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
  })
  const given = numberOrNone(spec, 'priority')
  if (given !== undefined && given !== priority) return told('integer value of priority', given, priority)
  const givenPolicy = stringAt(spec, 'preemptionPolicy')
  if (policy !== '' && givenPolicy !== '' && givenPolicy !== policy) {
    return told('string value of PreemptionPolicy', givenPolicy, policy)
  }
  const priorityClassName = stringAt(spec, 'priorityClassName') || (found && stringAt(found.metadata, 'name'))
  return {
    pod: {
      ...pod,
      spec: {
        ...spec,
        ...(priorityClassName ? { priorityClassName } : {}),
        priority,
        ...(policy === '' ? {} : { preemptionPolicy: policy }),
      },
    },
  }
}

/** A pod keeps its priority when it is written by someone who does not know of it. */
export function keepPriority(pod: ApiObject, old: ApiObject): ApiObject {
  const spec = objectAt(pod, 'spec')
  const oldSpec = objectAt(old, 'spec')
  const lost = ['priority', 'preemptionPolicy'].filter(field => !has(spec, field) && has(oldSpec, field))
  if (lost.length === 0) return pod
  return { ...pod, spec: { ...spec, ...Object.fromEntries(lost.map(field => [field, oldSpec[field]!])) } }
}

/** Why a class cannot be the default. */
export function defaultClassError(made: ApiObject, classes: readonly ApiObject[]): string | undefined {
  const other = made['globalDefault'] === true ? defaultClassOf(classes) : undefined
  const name = other && stringAt(other.metadata, 'name')
  if (name === undefined || name === stringAt(made.metadata, 'name')) return undefined
  return `PriorityClass ${name} is already marked as default. Only one default can exist`
}

/** Why a class stays. */
export const systemClassError = (name: string): string | undefined =>
  findSystemClass(name) && 'this is a system priority class and cannot be deleted'
