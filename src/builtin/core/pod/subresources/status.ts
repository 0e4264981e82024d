// The status of a pod: the fields that the server sets or keeps.

import { keepFrom, numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  signOf,
} from '../../../../meta/values/quantity.js'
import type { ValueObject } from '../../../../meta/values/value.js'

/** The status of a new pod. */
export function newPodStatus(pod: ValueObject, now: string): ValueObject {
  const spec = objectAt(pod, 'spec')
  const status: ValueObject = { phase: 'Pending' }
  if (objectsAt(spec, 'schedulingGates').length > 0) {
    const reason = 'SchedulingGated'
    const message = 'Scheduling is blocked due to non-empty scheduling gates'
    setPodCondition(status, { type: 'PodScheduled', status: 'False', reason, message }, now)
  }
  // A class that the client names is kept.
  status['qosClass'] = stringAt(objectAt(pod, 'status'), 'qosClass') || qosClassOf(spec)
  return status
}

export interface PodCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

/** Sets a condition in the status of a pod. Its time is that of the last change of its status. */
export function setPodCondition(status: ValueObject, { type, status: state, ...why }: PodCondition, now: string): void {
  const conditions = objectsAt(status, 'conditions')
  const old = conditions.find(each => stringAt(each, 'type') === type)
  const since = old && stringAt(old, 'status') === state ? (old['lastTransitionTime'] ?? now) : now
  const condition: ValueObject = { type, status: state, lastProbeTime: null, lastTransitionTime: since, ...why }
  status['conditions'] = old ? conditions.map(each => (each === old ? condition : each)) : [...conditions, condition]
}

/** The grace period of a deletion in seconds: 0 for a pod that runs nowhere. */
export function podGrace(pod: ValueObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec')
  const isOver = ['Succeeded', 'Failed'].includes(stringAt(objectAt(pod, 'status'), 'phase'))
  if (stringAt(spec, 'nodeName') === '' || isOver) return 0
  const seconds = requested ?? numberAt(spec, 'terminationGracePeriodSeconds')
  return seconds < 0 ? 1 : seconds
}

/** `podIP` is the first of `podIPs`: a client may write either. */
export function syncPodIps(status: ValueObject): void {
  const one = stringAt(status, 'podIP')
  const all = objectsAt(status, 'podIPs')
  const first = all[0] === undefined ? '' : stringAt(all[0], 'ip')
  if (one !== '' && first !== one) status['podIPs'] = [{ ip: one }]
  else if (one === '' && first !== '') status['podIP'] = first
}

// ---- quality of service

const QOS_RESOURCES = ['cpu', 'memory']

/**
 * How strictly the pod is held to its resources. BestEffort: it has neither requests nor limits. Guaranteed: all
 * containers have limits for cpu and memory, which equal their requests. Resources of the pod count instead of those of
 * its containers.
 */
export function qosClassOf(spec: ValueObject): string {
  const ofPod = objectOrNone(spec, 'resources')
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]
  const resources = ofPod === undefined ? containers.map(container => objectAt(container, 'resources')) : [ofPod]
  const requests = sumOf(resources.map(each => objectAt(each, 'requests')))
  const limits = sumOf(resources.map(each => objectAt(each, 'limits')))
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  // Resources of a pod without any limits are compared below like all others.
  const limited = ofPod !== undefined && limits.size === 0 ? [] : resources
  const allLimited = limited.every(each =>
    QOS_RESOURCES.every(name => positiveAmount(objectAt(each, 'limits'), name) !== undefined),
  )
  const allEqual = [...requests].every(([name, request]) => {
    const limit = limits.get(name)
    return limit !== undefined && compareQuantities(limit, request) === 0
  })
  return allLimited && allEqual && requests.size === limits.size ? 'Guaranteed' : 'Burstable'
}

function sumOf(lists: readonly ValueObject[]): Map<string, Quantity> {
  const sums = new Map<string, Quantity>()
  for (const amounts of lists) {
    for (const name of QOS_RESOURCES) {
      const amount = positiveAmount(amounts, name)
      const sum = sums.get(name)
      if (amount !== undefined) sums.set(name, sum === undefined ? amount : addQuantities(sum, amount))
    }
  }
  return sums
}

function positiveAmount(amounts: ValueObject, name: string): Quantity | undefined {
  const amount = parseQuantity(stringAt(amounts, name))
  return amount.ok && signOf(amount.value) > 0 ? amount.value : undefined
}

/** A write that leaves out generations, or the class of service, keeps what was there. */
export function keepObserved(status: ValueObject, old: ValueObject): void {
  if (stringAt(status, 'qosClass') === '') keepFrom(status, old, 'qosClass')
  if (numberAt(status, 'observedGeneration') === 0) keepFrom(status, old, 'observedGeneration')
  const before = new Map<string, ValueObject[]>()
  for (const condition of objectsAt(old, 'conditions')) {
    const type = stringAt(condition, 'type')
    before.set(type, [...(before.get(type) ?? []), condition])
  }
  for (const condition of objectsAt(status, 'conditions')) {
    const was = before.get(stringAt(condition, 'type'))?.shift()
    if (was && numberAt(condition, 'observedGeneration') === 0) keepFrom(condition, was, 'observedGeneration')
  }
}
