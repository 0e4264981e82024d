// The evaluator of each resource: pods, services and claims have their own, all other objects are counted.

import { type GroupResource, printGroupResource } from '../../../meta/group-version.js'
import { quantityOf } from '../../../meta/values/quantity.js'
import type { Lister } from '../../../objects/lister.js'
import type { Amounts } from '../pod-resources.js'
import { claimEvaluator } from './claims.js'
import { deviceEvaluator, RESOURCE_CLAIMS } from './devices.js'
import { podEvaluator } from './pods.js'
import type { QuotaEvaluator } from './quota-evaluator.js'
import { serviceEvaluator } from './services.js'

const ONE = quantityOf(1n)

/** Resources of the core group that quotas could name before there was `count/…`. */
const OLD_NAMES: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

const EVALUATORS: ReadonlyMap<string, QuotaEvaluator> = new Map([
  ['pods', podEvaluator],
  ['services', serviceEvaluator],
  ['persistentvolumeclaims', claimEvaluator],
  // As far as it can be used without other objects; `loadEvaluator` gives all of it.
  [RESOURCE_CLAIMS, deviceEvaluator({ deviceClasses: [], pods: [], claims: [] })],
])

/** Counts objects: `count/widgets.example.com`. */
function countEvaluator(resource: string): QuotaEvaluator {
  const names = [`count/${resource}`, ...(OLD_NAMES.has(resource) ? [resource] : [])]
  const used: Amounts = new Map(names.map(name => [name, ONE]))
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    tracks: name => names.includes(name),
    usage: () => used,
  }
}

/** The same, with what the evaluator of ResourceClaims has to know of other objects. */
export async function loadEvaluator(
  groupResource: GroupResource,
  namespace: string,
  objects: Pick<Lister, 'all'>,
): Promise<QuotaEvaluator> {
  if (printGroupResource(groupResource) !== RESOURCE_CLAIMS) return evaluatorFor(groupResource)
  const [deviceClasses, pods, claims] = await Promise.all([
    objects.all({ group: 'resource.k8s.io', kind: 'DeviceClass' }, ''),
    objects.all({ group: '', kind: 'Pod' }, namespace),
    objects.all({ group: 'resource.k8s.io', kind: 'ResourceClaim' }, namespace),
  ])
  return deviceEvaluator({ deviceClasses, pods, claims })
}

export function evaluatorFor(groupResource: GroupResource): QuotaEvaluator {
  const resource = printGroupResource(groupResource)
  return EVALUATORS.get(resource) ?? countEvaluator(resource)
}
