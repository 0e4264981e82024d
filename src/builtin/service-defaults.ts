// What a service gets where it says nothing. Its addresses and ports of nodes are assigned later.

import { ensureObject, objectAt, objectsAt, setDefault, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

/** True if something outside the cluster can reach the service. */
export function isExternallyAccessible(spec: ValueObject): boolean {
  const type = stringAt(spec, 'type')
  if (type === 'NodePort' || type === 'LoadBalancer') return true
  return type === 'ClusterIP' && stringsAt(spec, 'externalIPs').length > 0
}

/** Three hours. */
const AFFINITY_SECONDS = 10_800

export function defaultService(service: ValueObject): void {
  const spec = ensureObject(service, 'spec')
  setDefault(spec, 'sessionAffinity', 'None')
  if (stringAt(spec, 'sessionAffinity') === 'None') delete spec['sessionAffinityConfig']
  if (stringAt(spec, 'sessionAffinity') === 'ClientIP') {
    const config = ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP')
    setDefault(config, 'timeoutSeconds', AFFINITY_SECONDS, false)
  }
  setDefault(spec, 'type', 'ClusterIP')
  for (const port of objectsAt(spec, 'ports')) {
    setDefault(port, 'protocol', 'TCP')
    setDefault(port, 'targetPort', port['port'] ?? 0)
  }
  const type = stringAt(spec, 'type')
  if (isExternallyAccessible(spec)) setDefault(spec, 'externalTrafficPolicy', 'Cluster')
  if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(type))
    setDefault(spec, 'internalTrafficPolicy', 'Cluster', false)
  if (type !== 'LoadBalancer') return
  setDefault(spec, 'allocateLoadBalancerNodePorts', true)
  for (const ingress of objectsAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress')) {
    if (stringAt(ingress, 'ip') !== '') setDefault(ingress, 'ipMode', 'VIP', false)
  }
}
