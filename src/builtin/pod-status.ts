// What the server itself says of a pod when it takes one in, and what pods get that nobody asked for.
import { compareQuantities, parseQuantity, type Quantity, signOf } from '../meta/quantity.js'
import type { ValueObject } from '../meta/value.js'
import { ensureObject, has, objectAt, objectsAt, textAt } from './object-access.js'

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

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'

/** Pods stay for a while on a node that is not well, unless they say otherwise. */
export function addTolerations(pod: ValueObject): void {
  const spec = ensureObject(pod, 'spec')
  const own = objectsAt(spec, 'tolerations')
  const tolerates = (key: string): boolean =>
    own.some(
      toleration =>
        ['', key].includes(textAt(toleration, 'key')) && ['', 'NoExecute'].includes(textAt(toleration, 'effect')),
    )
  const added = [NOT_READY, UNREACHABLE]
    .filter(key => !tolerates(key))
    .map((key): ValueObject => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }))
  if (added.length > 0) spec['tolerations'] = [...own, ...added]
}

/** Pods that name no class have no priority over others. Classes of users are looked up where they are stored. */
export function setPriority(pod: ValueObject): void {
  const spec = ensureObject(pod, 'spec')
  const className = textAt(spec, 'priorityClassName')
  const priority = className === '' ? 0 : SYSTEM_CLASSES[className]
  if (priority === undefined) return
  spec['priority'] = priority
  if (!has(spec, 'preemptionPolicy')) spec['preemptionPolicy'] = 'PreemptLowerPriority'
}

const SYSTEM_CLASSES: Readonly<Record<string, number | undefined>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

/** A node that has not reported yet takes no pods. */
export function taintNewNode(node: ValueObject): void {
  const spec = ensureObject(node, 'spec')
  const taints = objectsAt(spec, 'taints')
  const tainted = taints.some(taint => textAt(taint, 'key') === NOT_READY && textAt(taint, 'effect') === 'NoSchedule')
  if (!tainted) spec['taints'] = [...taints, { key: NOT_READY, effect: 'NoSchedule' }]
}
