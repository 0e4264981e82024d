// Conditions of a status.
import type { Condition, Pod } from '../api/objects.js'

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find(each => each.type === type)

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditionOf(conditions, type)?.status === 'True'

export const without = (conditions: readonly Condition[] | undefined, type: string): readonly Condition[] =>
  (conditions ?? []).filter(each => each.type !== type)

// ---- pods

export const isReady = (pod: Pod): boolean => isTrue(pod.status?.conditions, 'Ready')

export const phaseOf = (pod: Pod): string => pod.status?.phase ?? 'Pending'

export const isFinished = (pod: Pod): boolean => phaseOf(pod) === 'Succeeded' || phaseOf(pod) === 'Failed'

export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

/** A pod that counts for its controller: it has not ended, and is not going to be deleted. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod)

/** When it becomes available, in milliseconds: `minReadySeconds` after it became ready. Undefined if it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready')
  if (ready?.status !== 'True') return undefined
  if (minReadySeconds === 0) return 0
  return Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const at = availableAt(pod, minReadySeconds)
  return at !== undefined && at <= now
}

/** The milliseconds until the next of the pods becomes available; undefined if none will by itself. */
export function untilNextAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const times = pods.map(pod => availableAt(pod, minReadySeconds)).filter(at => at !== undefined && at > now)
  return times.length === 0 ? undefined : Math.min(...(times as number[])) - now
}
