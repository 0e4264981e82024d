// The usage of pods: their number and, until they have ended, their requests and limits.

import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { matchesLabels, selectorOf } from '../../../meta/selectors/label-selectors.js'
import { has, numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import { type Quantity, quantityOf } from '../../../meta/values/quantity.js'
import { millisOf } from '../../../meta/values/time.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { type Amounts, addAmounts, type Resources, resourcesOf, resourcesOfPod } from '../pod-resources.js'
import type { QuotaEvaluator, ScopeSelector } from './quota-evaluator.js'

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const NAMES: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  ...COMPUTE.flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
])

/** If a quota tracks one of these, every container must set it. */
const REQUIRED: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
)

const HUGE_PAGES = 'hugepages-'

export const podEvaluator: QuotaEvaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '') return false
    if (operation === 'CREATE') return true
    // An update may move the pod into another scope.
    return operation === 'UPDATE' && !!object && !!oldObject && isTerminating(object) !== isTerminating(oldObject)
  },
  tracks: name =>
    NAMES.has(name) ||
    name.startsWith(HUGE_PAGES) ||
    name.startsWith(`requests.${HUGE_PAGES}`) ||
    (name.startsWith('requests.') && isExtended(name.slice('requests.'.length))),
  usage(pod, now) {
    const count: Amounts = new Map([['count/pods', quantityOf(1n)]])
    return hasEnded(pod, now) ? count : addAmounts(count, computeUsage(resourcesOfPod(objectAt(pod, 'spec'))))
  },
  isInScope,
  missing(pod, tracked) {
    const spec = objectAt(pod, 'spec')
    if (isSetOnPod(spec)) return undefined
    const required = tracked.filter(name => REQUIRED.has(name)).toSorted()
    const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map(container => ({
      name: stringAt(container, 'name'),
      usage: computeUsage(resourcesOf(container)),
    }))
    const errors = required.flatMap(resource => {
      const names = containers.filter(({ usage }) => !usage.has(resource)).map(({ name }) => name)
      return names.length === 0 ? [] : [`${resource} for: ${[...new Set(names)].toSorted().join(',')}`]
    })
    return errors.length === 0 ? undefined : `must specify ${errors.join('; ')}`
  },
}

const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/'

/** A resource of another domain than Kubernetes, such as example.com/gpu, or the devices of a class. */
const isExtended = (name: string): boolean =>
  name.startsWith(DEVICE_CLASS) || (name.includes('/') && !name.includes('kubernetes.io/'))

/** Quotas count pods that have not ended. A pod whose grace period is over does not block new ones. */
function hasEnded(pod: ApiObject, now: number): boolean {
  if (['Failed', 'Succeeded'].includes(stringAt(objectAt(pod, 'status'), 'phase'))) return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metaOf(pod)
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > millisOf(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

const isSetOnPod = (spec: ValueObject): boolean => {
  const { requests, limits } = resourcesOf(spec)
  return requests.size > 0 || limits.size > 0
}

function computeUsage({ requests, limits }: Resources): Amounts {
  const used = new Map<string, Quantity>([['pods', quantityOf(1n)]])
  for (const [name, amount] of requests) {
    if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES)) used.set(name, amount)
    if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES) || isExtended(name)) used.set(`requests.${name}`, amount)
  }
  for (const [name, amount] of limits) if (COMPUTE.includes(name)) used.set(`limits.${name}`, amount)
  return used
}

// ---- scopes

const isTerminating = (pod: ApiObject): boolean => {
  const spec = objectAt(pod, 'spec')
  return has(spec, 'activeDeadlineSeconds') && numberAt(spec, 'activeDeadlineSeconds') >= 0
}

const isBestEffort = (pod: ApiObject): boolean => stringAt(objectAt(pod, 'status'), 'qosClass') === 'BestEffort'

function isInScope(pod: ApiObject, { scopeName, operator, values }: ScopeSelector): boolean {
  switch (scopeName) {
    case 'Terminating':
      return isTerminating(pod)
    case 'NotTerminating':
      return !isTerminating(pod)
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return matchesName(stringAt(objectAt(pod, 'spec'), 'priorityClassName'), scopeName, operator, values)
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod)
    default:
      return false
  }
}

/** Whether a name satisfies the requirement; an empty name counts as absent. */
export function matchesName(name: string, key: string, operator: string, values: readonly string[]): boolean {
  const selector = selectorOf({ matchExpressions: [{ key, operator, values: [...values] }] })
  return selector.ok && matchesLabels(selector.value, name === '' ? {} : { [key]: name })
}

function usesOtherNamespaces(pod: ApiObject): boolean {
  const affinity = objectAt(objectAt(pod, 'spec'), 'affinity')
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap(field => {
    const rules = objectAt(affinity, field)
    const preferred = objectsAt(rules, 'preferredDuringSchedulingIgnoredDuringExecution')
    return objectsAt(rules, 'requiredDuringSchedulingIgnoredDuringExecution').concat(
      preferred.map(each => objectAt(each, 'podAffinityTerm')),
    )
  })
  return terms.some(term => stringsAt(term, 'namespaces').length > 0 || has(term, 'namespaceSelector'))
}
