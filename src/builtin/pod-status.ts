// What the server itself says of a pod when it takes one in.
import { compareQuantities, parseQuantity, type Quantity, signOf } from '../meta/quantity.js'
import type { ValueObject } from '../meta/value.js'
import { numberAt, objectAt, objectsAt, textAt } from './object-access.js'

/** The status of a pod that has just come in. */
export function newPodStatus(pod: ValueObject, now: string): ValueObject {
  const spec = objectAt(pod, 'spec')
  const gated = objectsAt(spec, 'schedulingGates').length > 0
  const condition: ValueObject = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  }
  return { phase: 'Pending', ...(gated ? { conditions: [condition] } : {}), qosClass: qosClassOf(spec) }
}

/** How many seconds a pod that is to go gets to end by itself: none if it runs nowhere. */
export function podGrace(pod: ValueObject, asked: number | undefined): number {
  const spec = objectAt(pod, 'spec')
  const isOver = ['Succeeded', 'Failed'].includes(textAt(objectAt(pod, 'status'), 'phase'))
  if (textAt(spec, 'nodeName') === '' || isOver) return 0
  const seconds = asked ?? numberAt(spec, 'terminationGracePeriodSeconds')
  return seconds < 0 ? 1 : seconds
}

const COUNTED = ['cpu', 'memory']

/** How hard a pod is held to what it asked for. */
export function qosClassOf(spec: ValueObject): string {
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]
  let asked = false
  let guaranteed = true
  for (const container of containers) {
    const resources = objectAt(container, 'resources')
    for (const name of COUNTED) {
      const request = positive(objectAt(resources, 'requests'), name)
      const limit = positive(objectAt(resources, 'limits'), name)
      asked ||= request !== undefined || limit !== undefined
      guaranteed &&= limit !== undefined && (request === undefined || compareQuantities(request, limit) === 0)
    }
  }
  return asked ? (guaranteed ? 'Guaranteed' : 'Burstable') : 'BestEffort'
}

function positive(amounts: ValueObject, name: string): Quantity | undefined {
  const amount = parseQuantity(textAt(amounts, name))
  return amount.ok && signOf(amount.value) > 0 ? amount.value : undefined
}
