// What the kinds of the network get where they say nothing.

import { ensureObject, objectOrNone, objectsAt, setDefault, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

function defaultPolicy(policy: ValueObject): void {
  const spec = ensureObject(policy, 'spec')
  for (const direction of ['ingress', 'egress']) {
    for (const rule of objectsAt(spec, direction)) {
      for (const port of objectsAt(rule, 'ports')) setDefault(port, 'protocol', 'TCP', false)
    }
  }
  if (stringsAt(spec, 'policyTypes').length > 0) return
  spec['policyTypes'] = objectsAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}

export const NETWORK_DEFAULTS: Readonly<Record<string, (object: ValueObject) => void>> = {
  'discovery.k8s.io/v1 EndpointSlice': slice => {
    for (const port of objectsAt(slice, 'ports')) {
      setDefault(port, 'name', '', false)
      setDefault(port, 'protocol', 'TCP', false)
    }
  },
  'networking.k8s.io/v1 NetworkPolicy': defaultPolicy,
  'networking.k8s.io/v1 IngressClass': ({ spec }) => {
    const parameters = objectOrNone((spec ?? {}) as ValueObject, 'parameters')
    if (parameters !== undefined) setDefault(parameters, 'scope', 'Cluster', false)
  },
}
