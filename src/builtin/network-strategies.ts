// What a write does to the kinds that say who is where in the network, and who may talk to whom.

import { objectAt, objectsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import {
  type BuiltinStrategy,
  countGeneration,
  inTurn,
  keepGeneration,
  type PrepareForUpdate,
  same,
  specOnly,
  startGeneration,
} from './common/strategies.js'

const SLICE_FIELDS = ['addressType', 'endpoints', 'ports']

/** Consumers of slices find them by their labels: those count, too. */
const countSliceChanges: PrepareForUpdate = (slice, old) => {
  const unchanged =
    SLICE_FIELDS.every(field => same(slice, old, field)) &&
    same(objectAt(slice, 'metadata'), objectAt(old, 'metadata'), 'labels')
  if (!unchanged) countGeneration(slice, old)
}

/** Only versions that are no more could write this. */
function dropTopology(slice: ValueObject): void {
  for (const endpoint of objectsAt(slice, 'endpoints')) delete endpoint['deprecatedTopology']
}

const endpointSlices: BuiltinStrategy = {
  prepareForCreate: slice => {
    startGeneration(slice)
    dropTopology(slice)
  },
  prepareForUpdate: inTurn(
    keepGeneration,
    (slice, old) => {
      if (!same(slice, old, 'endpoints')) dropTopology(slice)
    },
    countSliceChanges,
  ),
}

export const NETWORK_STRATEGIES: Readonly<Record<string, () => BuiltinStrategy>> = {
  'discovery.k8s.io/v1 EndpointSlice': () => endpointSlices,
  'networking.k8s.io/v1 NetworkPolicy': () => specOnly,
  'networking.k8s.io/v1 IngressClass': () => specOnly,
}
