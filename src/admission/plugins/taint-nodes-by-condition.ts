// TaintNodesByCondition: a new node is tainted as not ready, so that no pods are scheduled to it before it has reported.

import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { AdmissionPlugin } from '../chain.js'

const NOT_READY = 'node.kubernetes.io/not-ready'

export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: new Set(['CREATE']),
  resources: ['nodes'],
  mutate: ({ object }) => object && withTaint(object),
}

function withTaint(node: ApiObject): ApiObject | undefined {
  const spec = objectAt(node, 'spec')
  const taints = objectsAt(spec, 'taints')
  const isTainted = taints.some(
    taint => stringAt(taint, 'key') === NOT_READY && stringAt(taint, 'effect') === 'NoSchedule',
  )
  if (isTainted) return undefined
  return { ...node, spec: { ...spec, taints: [...taints, { key: NOT_READY, effect: 'NoSchedule' }] } }
}
