// How far a rolling update may go: pods beyond the wanted number, and pods that may be missing.
import { type IntOrString, scaledValue } from '../../meta/values/int-or-string.js'
import type { Deployment } from '../api/objects.js'

const scaled = (value: IntOrString | undefined, total: number, roundUp: boolean): number => {
  const result = scaledValue(value ?? 0, total, roundUp)
  return result.ok ? result.value : 0
}

export const isRolling = ({ spec: { strategy } }: Deployment): boolean => strategy?.type !== 'Recreate'

/** Both limits. If both are 0 after rounding, one pod may be missing, so that the update goes on. */
function limits({ spec: { strategy, replicas = 1 } }: Deployment): { surge: number; unavailable: number } {
  const { maxSurge: up, maxUnavailable: down } = strategy?.rollingUpdate ?? {}
  const surge = scaled(up, replicas, true)
  const unavailable = scaled(down, replicas, false)
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

export const maxSurge = (deployment: Deployment): number => (isRolling(deployment) ? limits(deployment).surge : 0)

export function maxUnavailable(deployment: Deployment): number {
  const { replicas = 1 } = deployment.spec
  return !isRolling(deployment) || replicas === 0 ? 0 : Math.min(limits(deployment).unavailable, replicas)
}

/** The size of the new ReplicaSet, which has `current` now; `total` is the size of all. */
export function newReplicas(deployment: Deployment, total: number, current: number): number {
  const { replicas = 1 } = deployment.spec
  if (!isRolling(deployment)) return replicas
  const room = replicas + maxSurge(deployment) - total
  return room <= 0 ? current : current + Math.min(room, replicas - current)
}
