// Eviction: a pod that a disruption budget covers is deleted only if the budget allows it.

import { forbidden, type StatusError, tooManyRequests } from '../../../../meta/errors/status.js'
import { type ApiObject } from '../../../../meta/object/api-object.js'
import { metaOf } from '../../../../meta/object/object-meta.js'
import { matchesLabels, selectorOf } from '../../../../meta/selectors/label-selectors.js'
import { ensureObject, numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { copyValue, type ValueObject } from '../../../../meta/values/value.js'
import { type PodCondition, setPodCondition } from './status.js'

/** A pod that has not started, has ended, or is being deleted can go in any case. */
export const isNoLoss = (pod: ApiObject): boolean =>
  isOver(pod) || stringAt(objectAt(pod, 'status'), 'phase') === 'Pending'

/** The pod has ended, or is being deleted. */
export const isOver = (pod: ApiObject): boolean =>
  ['Succeeded', 'Failed'].includes(stringAt(objectAt(pod, 'status'), 'phase')) ||
  metaOf(pod).deletionTimestamp !== undefined

/** Whether the budget covers the pod. A budget with an invalid selector covers none. */
export function guards(budget: ApiObject, pod: ApiObject): boolean {
  const { labels = {} } = metaOf(pod)
  if (Object.keys(labels).length === 0) return false
  const selector = selectorOf(objectOrNone(objectAt(budget, 'spec'), 'selector'))
  return selector.ok && matchesLabels(selector.value, labels)
}

/** A pod that is not ready may go if enough others are healthy, or if the budget allows it always. */
export function sparesUnready(budget: ApiObject, pod: ApiObject): boolean {
  const isReady = objectsAt(objectAt(pod, 'status'), 'conditions').some(
    condition => stringAt(condition, 'type') === 'Ready' && stringAt(condition, 'status') === 'True',
  )
  if (isReady) return false
  if (stringAt(objectAt(budget, 'spec'), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true
  const status = objectAt(budget, 'status')
  const desired = numberAt(status, 'desiredHealthy')
  return desired > 0 && numberAt(status, 'currentHealthy') >= desired
}

const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
const RETRY_SECONDS = 10
/** How many evictions a budget holds that its controller has not counted yet. */
const MAX_DISRUPTED = 2000

export const stillProcessed = (budget: ApiObject): StatusError =>
  refusal(`The disruption budget ${metaOf(budget).name} is still being processed by the server.`, RETRY_SECONDS)

const refusal = (why: string, retrySeconds?: number): StatusError =>
  tooManyRequests(REFUSED, retrySeconds, [{ reason: 'DisruptionBudget', message: why }])

/** The budget after one more eviction. Throws if the budget does not allow it. */
export function withDisruption(budget: ApiObject, pod: string, now: string): ApiObject {
  const { name = '', generation = 0 } = metaOf(budget)
  const status = objectAt(budget, 'status')
  if (numberAt(status, 'observedGeneration') < generation) throw stillProcessed(budget)
  const allowed = numberAt(status, 'disruptionsAllowed')
  const resource = { group: 'policy', resource: 'poddisruptionbudget' }
  if (allowed < 0) throw forbidden(resource, name, 'pdb disruptions allowed is negative')
  if (Object.keys(objectAt(status, 'disruptedPods')).length > MAX_DISRUPTED) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    throw forbidden(resource, name, why)
  }
  if (allowed === 0) throw refusal(whyNone(name, status))
  const changed = copyValue(budget)
  const after = ensureObject(changed, 'status')
  after['disruptionsAllowed'] = allowed - 1
  ensureObject(after, 'disruptedPods')[pod] = now
  if (allowed === 1) noneAllowed(after, generation, now)
  return changed
}

function whyNone(name: string, status: ValueObject): string {
  const condition = objectsAt(status, 'conditions').find(each => stringAt(each, 'type') === 'DisruptionAllowed')
  if (condition && stringAt(condition, 'reason') === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${stringAt(condition, 'message')}`
  }
  const desired = numberAt(status, 'desiredHealthy')
  const current = numberAt(status, 'currentHealthy')
  return current <= desired
    ? `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`
    : `The disruption budget ${name} does not allow evicting pods currently`
}

function noneAllowed(status: ValueObject, generation: number | bigint, now: string): void {
  const conditions = objectsAt(status, 'conditions')
  const old = conditions.find(each => stringAt(each, 'type') === 'DisruptionAllowed')
  const isNew = !old || stringAt(old, 'status') !== 'False'
  const condition: ValueObject = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: generation,
    lastTransitionTime: isNew ? now : stringAt(old, 'lastTransitionTime'),
    reason: 'InsufficientPods',
    message: '',
  }
  status['conditions'] = old ? conditions.map(each => (each === old ? condition : each)) : [...conditions, condition]
}

/** The pod with the condition that it is being evicted. */
export function evicted(pod: ApiObject, now: string): ApiObject {
  const changed = copyValue(pod)
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  setPodCondition(ensureObject(changed, 'status'), condition, now)
  return changed
}
