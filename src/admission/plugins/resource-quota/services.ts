// The usage of Services: their number, node ports and load balancers.

import { numberAt, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import { quantityOf } from '../../../meta/values/quantity.js'
import type { QuotaEvaluator } from './quota-evaluator.js'

const NAMES: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
])

export const serviceEvaluator: QuotaEvaluator = {
  // The type of a Service can change.
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  tracks: name => NAMES.has(name),
  usage(service) {
    const spec = objectAt(service, 'spec')
    const type = stringAt(spec, 'type')
    const ports = objectsAt(spec, 'ports')
    const isBalancer = type === 'LoadBalancer'
    // Node ports may not be allocated yet, so that the ports count that will get one.
    const counted =
      isBalancer && spec['allocateLoadBalancerNodePorts'] === false
        ? ports.filter(port => numberAt(port, 'nodePort') !== 0)
        : ports
    return new Map([
      ['count/services', quantityOf(1n)],
      ['services', quantityOf(1n)],
      ['services.loadbalancers', quantityOf(isBalancer ? 1n : 0n)],
      ['services.nodeports', quantityOf(isBalancer || type === 'NodePort' ? BigInt(counted.length) : 0n)],
    ])
  },
}
