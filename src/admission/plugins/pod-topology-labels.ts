// PodTopologyLabels: a pod gets the zone and region labels of its node, when it is bound or created with a node. The labels
// of a Binding are copied to the pod.

import { type ApiObject } from '../../meta/object/api-object.js'
import { mapAt, objectAt, stringAt } from '../../meta/values/access.js'
import { getOwn } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import type { AdmissionPlugin } from '../chain.js'

const NODE = { group: '', kind: 'Node' }
const LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export const podTopologyLabels = (objects: Lister): AdmissionPlugin => ({
  name: 'PodTopologyLabels',
  operations: new Set(['CREATE']),
  resources: ['pods', 'pods/binding'],
  async mutate({ object, subresource }) {
    const nodeName = object && (subresource === 'binding' ? targetNode(object) : assignedNode(object))
    // A node that does not exist is no error: the pod may be bound before the node registers.
    const node = nodeName ? await objects.find(NODE, '', nodeName) : undefined
    const labels = node && topologyLabels(node)
    if (!object || !labels || Object.keys(labels).length === 0) return undefined
    const own = mapAt(object.metadata, 'labels')
    return { ...object, metadata: { ...object.metadata, labels: { ...own, ...labels } } }
  },
})

const assignedNode = (pod: ApiObject): string => stringAt(objectAt(pod, 'spec'), 'nodeName')

function targetNode(binding: ApiObject): string {
  const target = objectAt(binding, 'target')
  return stringAt(target, 'kind') === 'Node' ? stringAt(target, 'name') : ''
}

function topologyLabels({ metadata }: ApiObject): Record<string, string> {
  const labels = mapAt(metadata, 'labels')
  return Object.fromEntries(
    LABELS.flatMap(key => {
      const value = getOwn(labels, key)
      return typeof value === 'string' ? [[key, value]] : []
    }),
  )
}
