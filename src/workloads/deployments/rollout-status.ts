// The status of a Deployment: counts, and the conditions that say whether it is available and makes progress.
import { printTime } from '../../meta/values/time.js'
import type { Condition, Deployment, ReplicaSet } from '../api/objects.js'
import { conditionOf, without } from '../common/conditions.js'
import { withoutZeros } from '../common/status.js'
import { maxUnavailable } from './limits.js'

export type DeploymentStatus = Deployment['status']

const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (count(set) ?? 0), 0)

export const hasDeadline = ({ spec: { progressDeadlineSeconds } }: Deployment): boolean =>
  progressDeadlineSeconds !== undefined && progressDeadlineSeconds !== 2 ** 31 - 1

/** The counts and the condition Available. */
export function countedStatus(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  now: number,
): DeploymentStatus {
  const { status, spec, metadata } = deployment
  const available = sum(sets, set => set.status.availableReplicas)
  const isAvailable = available >= (spec.replicas ?? 1) - maxUnavailable(deployment)
  const condition: Condition = isAvailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      }
  return {
    observedGeneration: Number(metadata.generation ?? 0),
    replicas: sum(sets, set => set.status.replicas),
    updatedReplicas: newSet?.status.replicas ?? 0,
    readyReplicas: sum(sets, set => set.status.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets, set => set.spec.replicas ?? 1) - available),
    terminatingReplicas: sum(sets, set => set.status.terminatingReplicas),
    ...(status.collisionCount !== undefined && { collisionCount: status.collisionCount }),
    conditions: withCondition(status.conditions, condition, now),
  }
}

/** The status of a rollout, with the condition Progressing. */
export function rolloutStatus(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  now: number,
): DeploymentStatus {
  const counted = countedStatus(deployment, sets, newSet, now)
  let { conditions = [] } = counted
  if (!hasDeadline(deployment)) conditions = without(conditions, 'Progressing')
  const current = conditionOf(deployment.status.conditions, 'Progressing')
  const isDone = counted.replicas === counted.updatedReplicas && current?.reason === 'NewReplicaSetAvailable'
  if (hasDeadline(deployment) && !isDone) conditions = progressing(deployment, counted, newSet, now)
  const failure = failureOf(sets, newSet)
  conditions = failure ? withCondition(conditions, failure, now) : without(conditions, 'ReplicaFailure')
  return { ...counted, conditions }
}

function progressing(
  deployment: Deployment,
  status: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  now: number,
): readonly Condition[] {
  const { conditions = [] } = status
  const what = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`
  const current = conditionOf(conditions, 'Progressing')
  const condition = (isTrue: boolean, reason: string, message: string): Condition => ({
    type: 'Progressing',
    status: isTrue ? 'True' : 'False',
    reason,
    message: `${what} ${message}`,
  })
  if (isComplete(deployment, status)) {
    return withCondition(conditions, condition(true, 'NewReplicaSetAvailable', 'has successfully progressed.'), now)
  }
  if (makesProgress(deployment.status, status)) {
    const made = condition(true, 'ReplicaSetUpdated', 'is progressing.')
    const since = current?.status === 'True' ? current.lastTransitionTime : printTime(now)
    return [
      ...without(conditions, 'Progressing'),
      { ...made, lastTransitionTime: since!, lastUpdateTime: printTime(now) },
    ]
  }
  if (hasTimedOut(deployment, current, now)) {
    return withCondition(conditions, condition(false, 'ProgressDeadlineExceeded', 'has timed out progressing.'), now)
  }
  return conditions
}

export function isComplete({ spec, metadata }: Deployment, status: DeploymentStatus): boolean {
  const { replicas = 1 } = spec
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= Number(metadata.generation ?? 0)
  )
}

function makesProgress(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const oldPods = ({ replicas, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldPods(now) < oldPods(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

function hasTimedOut(deployment: Deployment, current: Condition | undefined, now: number): boolean {
  if (!current || current.reason === 'NewReplicaSetAvailable') return false
  return current.reason === 'ProgressDeadlineExceeded' || deadlineOf(deployment, current) < now
}

const deadlineOf = ({ spec }: Deployment, { lastUpdateTime = '' }: Condition): number =>
  Date.parse(lastUpdateTime) + (spec.progressDeadlineSeconds ?? 0) * 1000

/** The milliseconds until the next look for progress; undefined if none is needed. */
export function untilProgressCheck(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const current = conditionOf(status.conditions, 'Progressing')
  if (!hasDeadline(deployment) || !current || deployment.spec.paused) return undefined
  if (isComplete(deployment, status) || current.reason === 'ProgressDeadlineExceeded') return undefined
  if (current.reason === 'NewReplicaSetAvailable') return undefined
  return Math.max(0, deadlineOf(deployment, current) - now) + 1000
}

/** The condition of the ReplicaSet that cannot make its pods: the new one, or else any. */
function failureOf(sets: readonly ReplicaSet[], newSet: ReplicaSet | undefined): Condition | undefined {
  const of = (set: ReplicaSet): Condition | undefined => conditionOf(set.status.conditions, 'ReplicaFailure')
  const found = (newSet && of(newSet)) ?? sets.map(of).find(Boolean)
  return found && { ...found, type: 'ReplicaFailure' }
}

/** The conditions with this one at the end. If its status and reason are as before, nothing changes. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: number,
): readonly Condition[] {
  const current = conditionOf(conditions, condition.type)
  if (current?.status === condition.status && current.reason === condition.reason) return conditions!
  const time = printTime(now)
  const lastTransitionTime = current?.status === condition.status ? current.lastTransitionTime! : time
  return [...without(conditions, condition.type), { ...condition, lastUpdateTime: time, lastTransitionTime }]
}

/** As it is stored: counts that are 0 are left out. */
export const storedStatus = (status: DeploymentStatus): object => withoutZeros(status, ['terminatingReplicas'])
