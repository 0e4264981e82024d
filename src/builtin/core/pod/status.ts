// What the server itself says of a pod when it takes one in.

import { numberAt, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import { compareQuantities, parseQuantity, type Quantity, signOf } from '../../../meta/values/quantity.js'
import type { ValueObject } from '../../../meta/values/value.js'

/** The status of a pod that has just come in. */
export function newPodStatus(pod: ValueObject, now: string): ValueObject {
  const spec = objectAt(pod, 'spec')
  const status: ValueObject = { phase: 'Pending' }
  if (objectsAt(spec, 'schedulingGates').length > 0) {
    const reason = 'SchedulingGated'
    const message = 'Scheduling is blocked due to non-empty scheduling gates'
    setPodCondition(status, { type: 'PodScheduled', status: 'False', reason, message }, now)
  }
  status['qosClass'] = qosClassOf(spec)
  return status
}

export interface PodCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

/** Sets a condition in the status of a pod. Its time is when its status last changed. */
export function setPodCondition(status: ValueObject, { type, status: state, ...why }: PodCondition, now: string): void {
  const conditions = objectsAt(status, 'conditions')
  const old = conditions.find(each => stringAt(each, 'type') === type)
  const since = old && stringAt(old, 'status') === state ? (old['lastTransitionTime'] ?? now) : now
  const condition: ValueObject = { type, status: state, lastProbeTime: null, lastTransitionTime: since, ...why }
  status['conditions'] = old ? conditions.map(each => (each === old ? condition : each)) : [...conditions, condition]
}

/** How many seconds a pod that is to go gets to end by itself: none if it runs nowhere. */
export function podGrace(pod: ValueObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec')
  const isOver = ['Succeeded', 'Failed'].includes(stringAt(objectAt(pod, 'status'), 'phase'))
  if (stringAt(spec, 'nodeName') === '' || isOver) return 0
  const seconds = requested ?? numberAt(spec, 'terminationGracePeriodSeconds')
  return seconds < 0 ? 1 : seconds
}

const COUNTED = ['cpu', 'memory']

/** How hard a pod is held to what it asked for. */
export function qosClassOf(spec: ValueObject): string {
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]
  let requested = false
  let guaranteed = true
  for (const container of containers) {
    const resources = objectAt(container, 'resources')
    for (const name of COUNTED) {
      const request = positive(objectAt(resources, 'requests'), name)
      const limit = positive(objectAt(resources, 'limits'), name)
      requested ||= request !== undefined || limit !== undefined
      guaranteed &&= limit !== undefined && (request === undefined || compareQuantities(request, limit) === 0)
    }
  }
  return requested ? (guaranteed ? 'Guaranteed' : 'Burstable') : 'BestEffort'
}

function positive(amounts: ValueObject, name: string): Quantity | undefined {
  const amount = parseQuantity(stringAt(amounts, name))
  return amount.ok && signOf(amount.value) > 0 ? amount.value : undefined
}
