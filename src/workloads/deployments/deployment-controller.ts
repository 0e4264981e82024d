// Carries a Deployment from one template to the next: a ReplicaSet for each template, the new one scaled up and the old
// ones down, as far as its strategy allows.
import type { Controller } from '../../controllers/start-controllers.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import type { Condition, Deployment, Pod, ReplicaSet } from '../api/objects.js'
import { conditionOf, isFinished } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { claim } from '../common/controller-ref.js'
import { messageOf } from '../common/pod-control.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { isRolling, maxUnavailable, newReplicas } from './limits.js'
import { proportionalSizes } from './proportions.js'
import {
  byCreation,
  createReplicaSets,
  DESIRED_REPLICAS,
  HashCollision,
  isActiveSet,
  REVISION,
  sizeOf,
  totalSize,
} from './replica-sets.js'
import {
  countedStatus,
  type DeploymentStatus,
  hasDeadline,
  isComplete,
  rolloutStatus,
  storedStatus,
  untilProgressCheck,
  withCondition,
} from './rollout-status.js'

const COMPONENT = 'deployment-controller'

export function startDeploymentController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const recorder = w.recorder(COMPONENT)
  const replicaSets = createReplicaSets(w, writes, recorder)

  function* keysOfSet(set: ReplicaSet): Iterable<string> {
    const owner = controllerOf(set)
    const { namespace = '', labels = {} } = set.metadata
    if (owner) {
      if (owner.kind === 'Deployment') yield `${namespace}/${owner.name}`
      return
    }
    for (const each of w.deployments.all(namespace)) {
      const selector = selectorOf(each.spec.selector)
      if (selector.ok && selector.value.length > 0 && matchesLabels(selector.value, labels)) yield keyOf(each)
    }
  }

  /** A Deployment that recreates its pods waits for the last one to go. */
  function keysOfPod(pod: Pod, now: Pod | undefined): string[] {
    if (now && !isFinished(now)) return []
    const owner = controllerOf(pod)
    const { namespace = '' } = pod.metadata
    const set = owner?.kind === 'ReplicaSet' ? w.replicaSets.get(namespace, owner.name) : undefined
    const parent = set && controllerOf(set)
    const deployment = parent && w.deployments.get(namespace, parent.name)
    return deployment && !isRolling(deployment) ? [keyOf(deployment)] : []
  }

  return startWorkloadController(w, {
    name: 'deployment',
    follow: queue => [
      follow(w.deployments, queue, each => [keyOf(each)]),
      follow(w.replicaSets, queue, keysOfSet),
      follow(w.pods, queue, keysOfPod),
    ],
    async reconcile(key, queue) {
      const deployment = w.deployments.get(...readKey(key))
      if (!deployment) return
      const selector = selectorOf(deployment.spec.selector)
      if (!selector.ok) return
      if (selector.value.length === 0) {
        const message = 'This deployment is selecting all pods. A non-empty selector is required.'
        recorder.record(deployment, 'Warning', 'SelectingAll', message)
        return
      }
      const sets = await claim(deployment, selector.value, w.replicaSets, writes)
      try {
        const status = await sync(deployment, sets)
        const wait = status && untilProgressCheck(deployment, status, w.now())
        if (wait !== undefined) queue.addLater(key, wait)
      } catch (error) {
        if (!(error instanceof HashCollision)) throw error
        const collisionCount = (deployment.status.collisionCount ?? 0) + 1
        await writes.setStatus(w.deployments, deployment, { ...deployment.status, collisionCount })
      }
    },
  })

  async function sync(found: Deployment, sets: readonly ReplicaSet[]): Promise<DeploymentStatus | undefined> {
    if (found.metadata.deletionTimestamp !== undefined) return statusOnly(found, sets)
    const deployment = await syncPaused(found)
    if (!deployment) return undefined
    const desired = String(deployment.spec.replicas ?? 1)
    const isScaled = sets
      .filter(isActiveSet)
      .some(({ metadata }) => (metadata.annotations?.[DESIRED_REPLICAS] ?? desired) !== desired)
    if (deployment.spec.paused || isScaled) return scaleOnly(deployment, sets)
    return isRolling(deployment) ? roll(deployment, sets) : recreate(deployment, sets)
  }

  // ---- status

  async function statusOnly(deployment: Deployment, sets: readonly ReplicaSet[]): Promise<DeploymentStatus> {
    const { newSet, current, all } = await withRevision(deployment, sets, false)
    return setStatus(current, countedStatus(current, all, newSet, w.now()))
  }

  async function setStatus(deployment: Deployment, status: DeploymentStatus): Promise<DeploymentStatus> {
    await writes.setStatus(w.deployments, deployment, storedStatus(status))
    return status
  }

  function setRolloutStatus(
    deployment: Deployment,
    sets: readonly ReplicaSet[],
    newSet: ReplicaSet | undefined,
  ): Promise<DeploymentStatus> {
    // What was just written has other sizes.
    const fresh = sets.map(refreshed)
    const now = w.now()
    return setStatus(deployment, rolloutStatus(deployment, fresh, newSet && refreshed(newSet), now))
  }

  function refreshed(set: ReplicaSet): ReplicaSet {
    return w.replicaSets.get(set.metadata.namespace ?? '', set.metadata.name) ?? set
  }

  /** Says in the condition Progressing that the Deployment was paused or resumed, since then no deadline counts. */
  async function syncPaused(deployment: Deployment): Promise<Deployment | undefined> {
    if (!hasDeadline(deployment)) return deployment
    const current = conditionOf(deployment.status.conditions, 'Progressing')
    if (current?.reason === 'ProgressDeadlineExceeded') return deployment
    const isMarked = current?.reason === 'DeploymentPaused'
    if (Boolean(deployment.spec.paused) === isMarked) return deployment
    return withProgress(
      deployment,
      deployment.spec.paused
        ? { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' }
        : { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' },
    )
  }

  async function withProgress(
    deployment: Deployment,
    condition: Omit<Condition, 'type'>,
  ): Promise<Deployment | undefined> {
    const { status } = deployment
    const conditions = withCondition(status.conditions, { type: 'Progressing', ...condition }, w.now())
    return writes.setStatus(w.deployments, deployment, { ...status, conditions })
  }

  // ---- ReplicaSets

  interface Sets {
    /** The Deployment with its revision. */
    readonly current: Deployment
    readonly newSet: ReplicaSet | undefined
    readonly old: readonly ReplicaSet[]
    readonly all: readonly ReplicaSet[]
  }

  async function withRevision(deployment: Deployment, sets: readonly ReplicaSet[], mayCreate: boolean): Promise<Sets> {
    let current = deployment
    const before = new Set(sets.map(({ metadata }) => metadata.uid))
    let newSet: ReplicaSet | undefined
    try {
      newSet = await replicaSets.syncNew(deployment, sets, mayCreate)
    } catch (error) {
      if (error instanceof HashCollision) throw error
      const message = `Failed to create new replica set: ${messageOf(error)}`
      await withProgress(deployment, { status: 'False', reason: 'FailedCreate', message })
      recorder.record(deployment, 'Warning', 'FailedCreate', message)
      throw error
    }
    const old = sets.filter(({ metadata }) => metadata.uid !== newSet?.metadata.uid)
    const all = newSet ? [...old, newSet] : old
    if (!newSet) return { current, newSet, old, all }
    const { name, uid } = newSet.metadata
    const isCreated = !before.has(uid)
    const revision = newSet.metadata.annotations?.[REVISION]
    const isRevised = revision !== undefined && current.metadata.annotations?.[REVISION] !== revision
    const hasNews = hasDeadline(current) && (isCreated || !conditionOf(current.status.conditions, 'Progressing'))
    if (isRevised || hasNews) {
      const reason = isCreated ? 'NewReplicaSetCreated' : 'FoundNewReplicaSet'
      const message = `${isCreated ? 'Created' : 'Found'} new replica set "${name}"`
      const condition = { type: 'Progressing', status: 'True', reason, message }
      // With the status, so that the annotation does not count as a new generation.
      const written = await writes.update(
        w.deployments,
        current,
        each => ({
          ...each,
          metadata: {
            ...each.metadata,
            ...(isRevised && { annotations: { ...each.metadata.annotations, [REVISION]: revision } }),
          },
          status: hasNews
            ? { ...each.status, conditions: withCondition(each.status.conditions, condition, w.now()) }
            : each.status,
        }),
        'status',
      )
      current = written ?? current
    }
    return { current, newSet, old, all }
  }

  /** Brings all ReplicaSets to the size of the Deployment, without going on with a rollout. */
  async function scaleOnly(deployment: Deployment, sets: readonly ReplicaSet[]): Promise<DeploymentStatus> {
    const { current, newSet, old, all } = await withRevision(deployment, sets, false)
    await scaleAll(current, newSet, old)
    if (current.spec.paused) await replicaSets.cleanUp(current, old)
    return setStatus(current, countedStatus(current, all.map(refreshed), newSet && refreshed(newSet), w.now()))
  }

  async function scaleAll(
    deployment: Deployment,
    newSet: ReplicaSet | undefined,
    old: readonly ReplicaSet[],
  ): Promise<void> {
    const { replicas = 1 } = deployment.spec
    const all = newSet ? [...old, newSet] : [...old]
    const active = all.filter(isActiveSet)
    const latest = newSet ?? old.toSorted(byCreation).at(-1)
    const only = active.length > 1 ? undefined : (active[0] ?? latest)
    if (only) return void (await replicaSets.scale(deployment, only, replicas))
    if (newSet && isSaturated(newSet, replicas)) {
      for (const set of old.filter(isActiveSet)) await replicaSets.scale(deployment, set, 0)
    } else if (isRolling(deployment)) {
      for (const [set, size] of proportionalSizes(deployment, active)) {
        await replicaSets.scale(deployment, set, size, true)
      }
    }
  }

  // ---- strategies

  async function roll(deployment: Deployment, sets: readonly ReplicaSet[]): Promise<DeploymentStatus> {
    const { current, newSet, old, all } = await withRevision(deployment, sets, true)
    const isChanged =
      (newSet !== undefined && (await scaleNew(current, newSet, all))) ||
      (newSet !== undefined && (await scaleOldDown(current, newSet, old, all)))
    if (!isChanged && isComplete(current, current.status)) await replicaSets.cleanUp(current, old)
    return setRolloutStatus(current, all, newSet)
  }

  async function scaleNew(deployment: Deployment, set: ReplicaSet, all: readonly ReplicaSet[]): Promise<boolean> {
    const { replicas = 1 } = deployment.spec
    if (sizeOf(set) === replicas) return false
    const size = sizeOf(set) > replicas ? replicas : newReplicas(deployment, totalSize(all), sizeOf(set))
    return replicaSets.scale(deployment, set, size)
  }

  /** First those pods of old ReplicaSets that are not available anyway, then as many as may be missing. */
  async function scaleOldDown(
    deployment: Deployment,
    newSet: ReplicaSet,
    old: readonly ReplicaSet[],
    all: readonly ReplicaSet[],
  ): Promise<boolean> {
    const active = old.filter(isActiveSet).toSorted(byCreation)
    if (active.length === 0) return false
    const minAvailable = (deployment.spec.replicas ?? 1) - maxUnavailable(deployment)
    const newUnavailable = sizeOf(newSet) - (newSet.status.availableReplicas ?? 0)
    let unhealthy = totalSize(all) - minAvailable - newUnavailable
    if (unhealthy <= 0) return false
    const sizes = new Map(active.map(set => [set, sizeOf(set)]))
    for (const set of active) {
      const less = Math.max(0, Math.min(unhealthy, sizeOf(set) - (set.status.availableReplicas ?? 0)))
      sizes.set(set, sizeOf(set) - less)
      unhealthy -= less
    }
    const available = all.reduce((sum, set) => sum + (set.status.availableReplicas ?? 0), 0)
    let dispensable = available - minAvailable
    const afterCleanUp = new Map(sizes)
    for (const set of active) {
      const less = Math.max(0, Math.min(sizes.get(set)!, dispensable))
      sizes.set(set, sizes.get(set)! - less)
      dispensable -= less
    }
    let isChanged = false
    for (const size of [afterCleanUp, sizes]) {
      for (const set of active) {
        if (await replicaSets.scale(deployment, refreshed(set), size.get(set)!)) isChanged = true
      }
    }
    return isChanged
  }

  async function recreate(deployment: Deployment, sets: readonly ReplicaSet[]): Promise<DeploymentStatus> {
    const found = await withRevision(deployment, sets, false)
    let isScaledDown = false
    for (const set of found.old.filter(isActiveSet)) {
      if (await replicaSets.scale(found.current, set, 0)) isScaledDown = true
    }
    const runs = (set: ReplicaSet): boolean =>
      set.status.replicas > 0 || w.pods.ownedBy(set.metadata.uid).some(pod => !isFinished(pod))
    if (isScaledDown || found.old.map(refreshed).some(runs)) {
      return setRolloutStatus(found.current, found.all, found.newSet)
    }
    const { current, newSet, old, all } = found.newSet
      ? found
      : await withRevision(found.current, sets.map(refreshed), true)
    if (newSet) await replicaSets.scale(current, newSet, current.spec.replicas ?? 1)
    if (isComplete(current, current.status)) await replicaSets.cleanUp(current, old)
    return setRolloutStatus(current, all, newSet)
  }
}

const isSaturated = (set: ReplicaSet, replicas: number): boolean =>
  sizeOf(set) === replicas &&
  Number(set.metadata.annotations?.[DESIRED_REPLICAS]) === replicas &&
  (set.status.availableReplicas ?? 0) === replicas
