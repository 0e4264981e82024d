// What pods and nodes get because nodes come and go: a node that has not reported yet takes no pods, and pods stay for
// a while on a node that is not well.

import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'

/** How long a pod stays there. */
const TOLERATION_SECONDS = 300

/** The pod with the tolerations that it has not said anything about. */
export function addTolerations(pod: ApiObject): ApiObject {
  const spec = objectAt(pod, 'spec')
  const own = objectsAt(spec, 'tolerations')
  const tolerates = (key: string): boolean =>
    own.some(
      toleration =>
        ['', key].includes(stringAt(toleration, 'key')) && ['', 'NoExecute'].includes(stringAt(toleration, 'effect')),
    )
  const added = [NOT_READY, UNREACHABLE]
    .filter(key => !tolerates(key))
    .map(
      (key): ValueObject => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: TOLERATION_SECONDS,
      }),
    )
  return added.length === 0 ? pod : { ...pod, spec: { ...spec, tolerations: [...own, ...added] } }
}

/** The node with the taint that keeps pods away. */
export function taintNewNode(node: ApiObject): ApiObject {
  const spec = objectAt(node, 'spec')
  const taints = objectsAt(spec, 'taints')
  const isTainted = taints.some(
    taint => stringAt(taint, 'key') === NOT_READY && stringAt(taint, 'effect') === 'NoSchedule',
  )
  if (isTainted) return node
  return { ...node, spec: { ...spec, taints: [...taints, { key: NOT_READY, effect: 'NoSchedule' }] } }
}
