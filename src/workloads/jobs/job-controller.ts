// Runs the pods of a Job until enough have succeeded, or too many have failed. A finalizer keeps each pod until it is
// counted in the status, so that none is counted twice or lost.
import type { Controller } from '../../controllers/start-controllers.js'
import { selectorOf } from '../../meta/selectors/label-selectors.js'
import { printTime } from '../../meta/values/time.js'
import type { Condition, Job, JobStatus, Pod } from '../api/objects.js'
import { conditionOf, isActive, isFinished, isReady, isTerminating, isTrue, phaseOf } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { claim } from '../common/controller-ref.js'
import { createPodControl, inSlowStartBatches, isNamespaceEnding } from '../common/pod-control.js'
import { withoutZeros } from '../common/status.js'
import { follow, keyOf, type Queue, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { matchFailurePolicy } from './failure-policy.js'
import { parseIndexes, printIndexes } from './indexes.js'
import {
  backoffEnd,
  failuresOf,
  hasBackoffPerIndex,
  hasFailed,
  indexOf,
  isIndexed,
  isTracked,
  podFor,
  TRACKING,
  waitsForTerminating,
} from './job-pods.js'

const COMPONENT = 'job-controller'
const MAX_AT_ONCE = 500

export const isFinishedJob = ({ status: { conditions } }: Job): boolean =>
  isTrue(conditions, 'Complete') || isTrue(conditions, 'Failed')

export function startJobController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const recorder = w.recorder(COMPONENT)
  const podControl = createPodControl(w, writes, recorder)

  return startWorkloadController(w, {
    name: 'job',
    follow: queue => [
      follow(w.jobs, queue, job => [keyOf(job)]),
      follow(w.pods, queue, pod => {
        const owner = controllerOf(pod)
        return owner?.kind === 'Job' ? [`${pod.metadata.namespace ?? ''}/${owner.name}`] : []
      }),
    ],
    async reconcile(key, queue) {
      const job = w.jobs.get(...readKey(key))
      if (!job) return releasePods(key)
      const { managedBy } = job.spec
      if (managedBy !== undefined && managedBy !== 'kubernetes.io/job-controller') return
      const selector = selectorOf(job.spec.selector)
      if (!selector.ok) return
      const pods = await claim(job, selector.value, w.pods, writes)
      if (isFinishedJob(job) || job.metadata.deletionTimestamp !== undefined) {
        for (const pod of pods.filter(isTracked)) await release(pod)
        return
      }
      await sync(job, pods, key, queue)
    },
  })

  /** A pod whose Job is gone need not be counted any more. */
  async function releasePods(key: string): Promise<void> {
    const [namespace, name] = readKey(key)
    for (const pod of w.pods.all(namespace)) {
      const owner = controllerOf(pod)
      if (owner?.kind === 'Job' && owner.name === name && isTracked(pod)) await release(pod)
    }
  }

  async function release(pod: Pod): Promise<void> {
    await writes.update(w.pods, pod, old => ({
      ...old,
      metadata: { ...old.metadata, finalizers: (old.metadata.finalizers ?? []).filter(each => each !== TRACKING) },
    }))
  }

  async function sync(job: Job, pods: readonly Pod[], key: string, queue: Queue): Promise<void> {
    const progress = progressOf(job, pods)
    const active = pods.filter(isActive)
    let finish = conditionFor(job, pods, progress)
    let failure: { readonly error: unknown } | undefined
    const conditions = [...(job.status.conditions ?? [])]
    let { startTime } = job.status
    const isSuspended = job.spec.suspend === true
    if (startTime === undefined && !isSuspended) startTime = printTime(w.now())
    if (finish) {
      for (const pod of active) await podControl.delete(job, pod)
    } else {
      try {
        await manage({ ...job, status: { ...job.status, ...(startTime && { startTime }) } }, pods, progress, key, queue)
      } catch (error) {
        failure = { error }
      }
      const left = w.pods.ownedBy(job.metadata.uid).filter(isActive).length
      if (isDone(job, progress.succeeded, left))
        finish = success('CompletionsReached', 'Reached expected number of succeeded pods')
      else startTime = syncSuspended(job, conditions, startTime)
    }
    await track({ ...job, status: { ...job.status, conditions, startTime: startTime! } }, progress, finish)
    const { activeDeadlineSeconds } = job.spec
    if (activeDeadlineSeconds !== undefined && startTime !== undefined && !isSuspended) {
      queue.addLater(key, Math.max(0, Date.parse(startTime) + Number(activeDeadlineSeconds) * 1000 - w.now()))
    }
    if (failure && !isNamespaceEnding(failure.error)) throw failure.error
  }

  // ---- what has happened so far

  interface Progress {
    readonly succeeded: number
    readonly failed: number
    readonly succeededIndexes: ReadonlySet<number>
    readonly failedIndexes: ReadonlySet<number>
    /** Pods that have ended and are not counted yet. */
    readonly newSucceeded: readonly Pod[]
    readonly newFailed: readonly Pod[]
  }

  function progressOf(job: Job, pods: readonly Pod[]): Progress {
    const { status, spec } = job
    const completions = spec.completions ?? 0
    const known = new Set([
      ...(status.uncountedTerminatedPods?.succeeded ?? []),
      ...(status.uncountedTerminatedPods?.failed ?? []),
    ])
    const fresh = pods.filter(pod => isTracked(pod) && !known.has(pod.metadata.uid))
    const newSucceeded = fresh.filter(pod => phaseOf(pod) === 'Succeeded')
    const newFailed = fresh.filter(pod => hasFailed(job, pod))
    const counted = newFailed.filter(pod => matchFailurePolicy(job, pod)?.action !== 'Ignore')
    const succeededIndexes = isIndexed(job) ? parseIndexes(status.completedIndexes, completions) : new Set<number>()
    for (const pod of newSucceeded) {
      const index = indexOf(pod)
      if (isIndexed(job) && index >= 0 && index < completions) succeededIndexes.add(index)
    }
    const uncounted = status.uncountedTerminatedPods ?? {}
    return {
      succeeded: isIndexed(job)
        ? succeededIndexes.size
        : (status.succeeded ?? 0) + (uncounted.succeeded?.length ?? 0) + newSucceeded.length,
      failed: (status.failed ?? 0) + (uncounted.failed?.length ?? 0) + counted.length,
      succeededIndexes,
      failedIndexes: failedIndexesOf(job, pods),
      newSucceeded,
      newFailed,
    }
  }

  function failedIndexesOf(job: Job, pods: readonly Pod[]): Set<number> {
    const failed = parseIndexes(job.status.failedIndexes, job.spec.completions ?? 0)
    if (!hasBackoffPerIndex(job)) return failed
    for (const pod of pods.filter(each => hasFailed(job, each))) {
      const action = matchFailurePolicy(job, pod)?.action
      if (action === 'Ignore') continue
      if (action === 'FailIndex' || failuresOf(pod) >= job.spec.backoffLimitPerIndex!) failed.add(indexOf(pod))
    }
    failed.delete(-1)
    return failed
  }

  // ---- whether it is over

  function conditionFor(job: Job, pods: readonly Pod[], progress: Progress): Condition | undefined {
    const { spec, status } = job
    const before =
      conditionOf(status.conditions, 'FailureTarget') ?? conditionOf(status.conditions, 'SuccessCriteriaMet')
    if (before?.status === 'True') return before
    const policy = progress.newFailed.map(pod => matchFailurePolicy(job, pod)).find(each => each?.action === 'FailJob')
    if (policy) return failing('PodFailurePolicy', policy.message)
    const limit = spec.backoffLimit ?? 6
    if (progress.failed > limit || restartsOf(job, pods) > Math.max(0, limit - 1)) {
      return failing('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
    }
    if (isPastDeadline(job)) return failing('DeadlineExceeded', 'Job was active longer than specified deadline')
    if (hasBackoffPerIndex(job)) {
      const count = progress.failedIndexes.size
      if (spec.maxFailedIndexes !== undefined && count > spec.maxFailedIndexes) {
        return failing('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
      }
      if (count > 0 && count + progress.succeededIndexes.size >= (spec.completions ?? 0)) {
        return failing('FailedIndexes', 'Job has failed indexes')
      }
    }
    const rule = matchedSuccessRule(job, progress.succeededIndexes)
    return rule === undefined ? undefined : success('SuccessPolicy', `Matched rules at index ${rule}`)
  }

  function isPastDeadline({ spec, status }: Job): boolean {
    if (spec.activeDeadlineSeconds === undefined || status.startTime === undefined || spec.suspend) return false
    return Date.parse(status.startTime) + Number(spec.activeDeadlineSeconds) * 1000 <= w.now()
  }

  // ---- pods

  async function manage(job: Job, pods: readonly Pod[], progress: Progress, key: string, queue: Queue): Promise<void> {
    const { spec } = job
    const active = pods.filter(isActive)
    const remove = (count: number): Promise<unknown> =>
      Promise.all(
        active
          .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)))
          .slice(0, count)
          .map(pod => podControl.delete(job, pod)),
      )
    if (spec.suspend) return void (await remove(active.length))
    const parallelism = spec.parallelism ?? 1
    const wanted =
      spec.completions === undefined
        ? progress.succeeded > 0
          ? active.length
          : parallelism
        : Math.max(0, Math.min(parallelism, spec.completions - progress.succeeded))
    if (active.length > wanted) return void (await remove(active.length - wanted))
    const ending = waitsForTerminating(job) ? pods.filter(pod => isTerminating(pod) && !isFinished(pod)).length : 0
    const missing = Math.min(wanted - ending - active.length, MAX_AT_ONCE)
    if (missing <= 0) return
    const at = backoffEnd(job, pods)
    if (at > w.now()) return queue.addLater(key, at - w.now())
    await createPods(job, pods, progress, missing)
  }

  async function createPods(job: Job, pods: readonly Pod[], progress: Progress, missing: number): Promise<void> {
    const { template, completions = 0 } = job.spec
    if (!isIndexed(job)) {
      await inSlowStartBatches(missing, () => podControl.create(job, template, podFor(job, template, undefined, 0)))
      return
    }
    const taken = new Set([
      ...progress.succeededIndexes,
      ...progress.failedIndexes,
      ...pods.filter(isActive).map(indexOf),
    ])
    const indexes: number[] = []
    for (let i = 0; i < completions && indexes.length < missing; i++) if (!taken.has(i)) indexes.push(i)
    const failuresAt = (index: number): number =>
      Math.max(
        0,
        ...pods
          .filter(pod => indexOf(pod) === index && hasFailed(job, pod))
          .map(pod => failuresOf(pod) + (matchFailurePolicy(job, pod)?.action === 'Ignore' ? 0 : 1)),
      )
    const left = indexes[Symbol.iterator]()
    await inSlowStartBatches(indexes.length, async () => {
      const { value, done } = left.next()
      if (!done) await podControl.create(job, template, podFor(job, template, value, failuresAt(value)))
    })
  }

  // ---- status

  function syncSuspended(job: Job, conditions: Condition[], startTime: string | undefined): string | undefined {
    const current = conditionOf(conditions, 'Suspended')
    const isSuspended = job.spec.suspend === true
    if (isSuspended === (current?.status === 'True') || (!isSuspended && !current)) return startTime
    const time = printTime(w.now())
    const made = isSuspended
      ? { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }
      : { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' }
    const condition = Object.assign({ lastProbeTime: time, lastTransitionTime: time }, made)
    const place = conditions.findIndex(({ type }) => type === 'Suspended')
    if (place === -1) conditions.push(condition)
    else conditions[place] = condition
    recorder.record(job, 'Normal', isSuspended ? 'Suspended' : 'Resumed', made.message)
    return isSuspended ? undefined : time
  }

  /** Notes the pods that have ended, lets them go, and counts them; then the Job may be over. */
  async function track(job: Job, progress: Progress, finish: Condition | undefined): Promise<void> {
    const uids = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid)
    const isCounted = (pod: Pod): boolean => matchFailurePolicy(job, pod)?.action !== 'Ignore'
    const before = job.status.uncountedTerminatedPods ?? {}
    const uncounted = {
      succeeded: isIndexed(job) ? [] : [...(before.succeeded ?? []), ...uids(progress.newSucceeded)],
      failed: [...(before.failed ?? []), ...uids(progress.newFailed.filter(isCounted))],
    }
    const current = w.pods.ownedBy(job.metadata.uid)
    const active = current.filter(isActive)
    const isOver = finish !== undefined
    const interim = withFinish(job.status.conditions ?? [], finish)
    const status: JobStatus = {
      ...job.status,
      conditions: interim,
      active: active.length,
      ready: active.filter(isReady).length,
      terminating: current.filter(pod => isTerminating(pod) && !isFinished(pod)).length,
      ...(isIndexed(job) && {
        completedIndexes: printIndexes(progress.succeededIndexes),
        succeeded: progress.succeededIndexes.size,
      }),
      ...(hasBackoffPerIndex(job) && { failedIndexes: printIndexes(progress.failedIndexes) }),
      uncountedTerminatedPods: uncounted,
    }
    const hasEnded = progress.newSucceeded.length + progress.newFailed.length > 0
    const hasUncounted = uncounted.succeeded.length + uncounted.failed.length > 0
    const written = await writes.setStatus(w.jobs, job, stored(status))
    if (!written) return
    const ended = current.filter(pod => isTracked(pod) && (isFinished(pod) || hasFailed(job, pod)))
    for (const pod of ended) await release(pod)
    const counts = {
      ...(!isIndexed(job) && { succeeded: (job.status.succeeded ?? 0) + uncounted.succeeded.length }),
      failed: (job.status.failed ?? 0) + uncounted.failed.length,
    }
    const isQuiet =
      active.length === 0 && w.pods.ownedBy(job.metadata.uid).every(pod => isFinished(pod) || !isTerminating(pod))
    const final = isOver && isQuiet ? finalCondition(finish) : undefined
    if (!hasEnded && !hasUncounted && !final) return
    const isComplete = final?.type === 'Complete'
    await writes.setStatus(
      w.jobs,
      written,
      stored({
        ...status,
        ...counts,
        ...(final && { conditions: [...interim, final] }),
        ...(isComplete && { completionTime: printTime(w.now()) }),
        uncountedTerminatedPods: {},
      }),
    )
    if (!final) return
    if (isComplete) recorder.record(job, 'Normal', 'Completed', 'Job completed')
    else recorder.record(job, 'Warning', final.reason!, final.message!)
  }

  function withFinish(conditions: readonly Condition[], finish: Condition | undefined): readonly Condition[] {
    return !finish || conditions.some(({ type }) => type === finish.type) ? conditions : [...conditions, finish]
  }

  function conditionOfType(type: string, reason: string, message: string): Condition {
    const time = printTime(w.now())
    return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message }
  }

  function failing(reason: string, message: string): Condition {
    return conditionOfType('FailureTarget', reason, message)
  }

  function success(reason: string, message: string): Condition {
    return conditionOfType('SuccessCriteriaMet', reason, message)
  }

  function finalCondition({ type, reason = '', message = '' }: Condition): Condition {
    return conditionOfType(type === 'FailureTarget' ? 'Failed' : 'Complete', reason, message)
  }
}

/** With restartPolicy OnFailure, restarts count instead of failed pods. */
function restartsOf(job: Job, pods: readonly Pod[]): number {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return -1
  return pods
    .filter(isActive)
    .flatMap(({ status }) => (status?.initContainerStatuses ?? []).concat(status?.containerStatuses ?? []))
    .reduce((sum, { restartCount }) => sum + restartCount, 0)
}

function isDone({ spec }: Job, succeeded: number, active: number): boolean {
  if (spec.suspend) return spec.completions !== undefined && succeeded >= spec.completions && active === 0
  return spec.completions === undefined ? succeeded > 0 && active === 0 : succeeded >= spec.completions && active === 0
}

function matchedSuccessRule(job: Job, succeeded: ReadonlySet<number>): number | undefined {
  if (succeeded.size === 0) return undefined
  const rules = job.spec.successPolicy?.rules ?? []
  const found = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount
    const wanted = parseIndexes(succeededIndexes, job.spec.completions ?? 0)
    const matched = [...wanted].filter(index => succeeded.has(index)).length
    return wanted.size > 0 && (succeededCount === undefined ? matched === wanted.size : matched >= succeededCount)
  })
  return found === -1 ? undefined : found
}

const stored = (status: JobStatus): JobStatus =>
  withoutZeros({ ...status, uncountedTerminatedPods: withoutZeros(status.uncountedTerminatedPods ?? {}) }, [
    'ready',
    'terminating',
  ])
