// A Deployment that is scaled in the middle of a rollout: its ReplicaSets grow or shrink in proportion.
import type { Deployment, ReplicaSet } from '../api/objects.js'
import { maxSurge } from './limits.js'
import { byCreation, MAX_REPLICAS, sizeOf, totalSize } from './replica-sets.js'

export function proportionalSizes(deployment: Deployment, sets: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const { replicas = 1 } = deployment.spec
  const allowed = replicas > 0 ? replicas + maxSurge(deployment) : 0
  const toAdd = allowed - totalSize(sets)
  // Larger ones first; of the same size, newer ones grow first and older ones shrink first.
  const sorted = sets.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byCreation(b, a) : byCreation(a, b)))
  let added = 0
  const sizes = sorted.map((set): [ReplicaSet, number] => {
    const part = toAdd === 0 ? 0 : partOf(deployment, set, toAdd, added)
    added += part
    return [set, sizeOf(set) + part]
  })
  const [first] = sizes
  // What rounding leaves goes to the largest.
  if (first && toAdd !== 0) first[1] = Math.max(0, first[1] + toAdd - added)
  return sizes
}

function partOf(deployment: Deployment, set: ReplicaSet, toAdd: number, added: number): number {
  if (sizeOf(set) === 0 || toAdd === added) return 0
  const part = fractionOf(deployment, set)
  const allowed = toAdd - added
  return toAdd > 0 ? Math.min(part, allowed) : Math.max(part, allowed)
}

function fractionOf(deployment: Deployment, set: ReplicaSet): number {
  const { replicas = 1 } = deployment.spec
  if (replicas === 0) return -sizeOf(set)
  const before = Number(set.metadata.annotations?.[MAX_REPLICAS]) || deployment.status.replicas || 0
  if (before === 0) return 0
  return Math.round((sizeOf(set) * (replicas + maxSurge(deployment))) / before) - sizeOf(set)
}
