// Priority: sets the priority and preemption policy of a pod from its PriorityClass, or from the default class, and
// refuses a second default class.

import { type ApiObject } from '../../meta/object/api-object.js'
import { has, numberAt, numberOrNone, objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

const PRIORITY_CLASS = { group: 'scheduling.k8s.io', kind: 'PriorityClass' }

export function priority(objects: Lister): AdmissionPlugin {
  const classes = (): Promise<readonly ApiObject[]> => objects.all(PRIORITY_CLASS, '')

  /** The class that a new pod names, or the default class. */
  async function classOf(attributes: Attributes, pod: ApiObject): Promise<ApiObject | undefined> {
    const name = stringAt(objectAt(pod, 'spec'), 'priorityClassName')
    if (name === '') return defaultClassOf(await classes())
    const found = await objects.find(PRIORITY_CLASS, '', name)
    if (!found) throw forbiddenBy(attributes, `no PriorityClass with name ${name} was found`)
    return found
  }

  return {
    name: 'Priority',
    operations: new Set(['CREATE', 'UPDATE']),
    resources: ['pods', 'priorityclasses.scheduling.k8s.io'],
    async mutate(attributes) {
      const { object, oldObject, operation, resource } = attributes
      if (!object || resource.resource !== 'pods') return undefined
      if (operation === 'UPDATE') return oldObject && keepPriority(object, oldObject)
      const set = setPriority(object, await classOf(attributes, object))
      if ('refusal' in set) throw forbiddenBy(attributes, set.refusal)
      return set.pod
    },
    async validate(attributes) {
      const { object, resource } = attributes
      if (!object || resource.resource === 'pods' || object['globalDefault'] !== true) return
      const error = defaultClassError(object, await classes())
      if (error !== undefined) throw forbiddenBy(attributes, error)
    },
  }
}

type Prioritized = { readonly refusal: string } | { readonly pod: ApiObject }

/** For pods without a class, where there is no default class. */
const NO_CLASS: ValueObject = { value: 0, preemptionPolicy: 'PreemptLowerPriority' }

/** The class of pods that name none. Two created at the same time may both be the default: the lower one is taken. */
export const defaultClassOf = (classes: readonly ApiObject[]): ApiObject | undefined =>
  classes
    .filter(each => each['globalDefault'] === true)
    .toSorted((a, b) => numberAt(a, 'value') - numberAt(b, 'value'))[0]

/** The pod with the priority of its class. */
export function setPriority(pod: ApiObject, found: ApiObject | undefined): Prioritized {
  const spec = objectAt(pod, 'spec')
  const from = found ?? NO_CLASS
  const value = numberAt(from, 'value')
  const policy = stringAt(from, 'preemptionPolicy')
  const mismatch = (what: string, given: string | number, computed: string | number): Prioritized => ({
    refusal: `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
  })
  const given = numberOrNone(spec, 'priority')
  if (given !== undefined && given !== value) return mismatch('integer value of priority', given, value)
  const givenPolicy = stringAt(spec, 'preemptionPolicy')
  if (policy !== '' && givenPolicy !== '' && givenPolicy !== policy) {
    return mismatch('string value of PreemptionPolicy', givenPolicy, policy)
  }
  const priorityClassName = stringAt(spec, 'priorityClassName') || (found && stringAt(found.metadata, 'name'))
  return {
    pod: {
      ...pod,
      spec: {
        ...spec,
        ...(priorityClassName ? { priorityClassName } : {}),
        priority: value,
        ...(policy === '' ? {} : { preemptionPolicy: policy }),
      },
    },
  }
}

/** Keeps the priority when the client leaves it out, as clients do that do not know the field. */
export function keepPriority(pod: ApiObject, old: ApiObject): ApiObject | undefined {
  const spec = objectAt(pod, 'spec')
  const oldSpec = objectAt(old, 'spec')
  const lost = ['priority', 'preemptionPolicy'].filter(field => !has(spec, field) && has(oldSpec, field))
  if (lost.length === 0) return undefined
  return { ...pod, spec: { ...spec, ...Object.fromEntries(lost.map(field => [field, oldSpec[field]!])) } }
}

/** Why a class cannot be the default class. */
export function defaultClassError(added: ApiObject, classes: readonly ApiObject[]): string | undefined {
  const other = added['globalDefault'] === true ? defaultClassOf(classes) : undefined
  const name = other && stringAt(other.metadata, 'name')
  if (name === undefined || name === stringAt(added.metadata, 'name')) return undefined
  return `PriorityClass ${name} is already marked as default. Only one default can exist`
}
