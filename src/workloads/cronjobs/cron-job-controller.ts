// Creates Jobs at the times of a CronJob, and keeps as many of the finished ones as it says.
import type { Controller } from '../../controllers/start-controllers.js'
import { hasReason } from '../../meta/errors/status.js'
import { printTime } from '../../meta/values/time.js'
import type { CronJob, Job, ObjectReference } from '../api/objects.js'
import { conditionOf, isTrue } from '../common/conditions.js'
import { controllerOf } from '../common/controller-of.js'
import { controllerRef } from '../common/controller-ref.js'
import { isNamespaceEnding, messageOf } from '../common/pod-control.js'
import { withoutZeros } from '../common/status.js'
import { follow, keyOf, type Queue, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { isFinishedJob } from '../jobs/job-controller.js'
import { parseSchedule, type Schedule } from './schedule.js'

const COMPONENT = 'cronjob-controller'
const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const MANY_MISSED = 100
/** A look comes this long after the time, so that the time has surely come. */
const DELAY_MS = 100
const MAX_STEPS = 100_000

export function startCronJobController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const recorder = w.recorder(COMPONENT)

  return startWorkloadController(w, {
    name: 'cronjob',
    follow: queue => [
      follow(w.cronJobs, queue, each => [keyOf(each)]),
      follow(w.jobs, queue, job => {
        const owner = controllerOf(job)
        return owner?.kind === 'CronJob' ? [`${job.metadata.namespace ?? ''}/${owner.name}`] : []
      }),
    ],
    async reconcile(key, queue) {
      const cronJob = w.cronJobs.get(...readKey(key))
      if (!cronJob) return
      const jobs = w.jobs.ownedBy(cronJob.metadata.uid)
      await cleanUp(cronJob, jobs)
      const status = syncActive(cronJob, jobs)
      const next = await start({ ...cronJob, status }, jobs, key, queue)
      await writes.setStatus(w.cronJobs, cronJob, withoutZeros(next))
    },
  })

  // ---- finished Jobs

  function syncActive(cronJob: CronJob, jobs: readonly Job[]): CronJob['status'] {
    const { status } = cronJob
    let lastSuccess = status.lastSuccessfulTime
    const active: ObjectReference[] = []
    for (const reference of status.active ?? []) {
      const job = jobs.find(({ metadata }) => metadata.uid === reference.uid)
      if (!job) recorder.record(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${reference.name}`)
      else if (isFinishedJob(job)) {
        const condition = isTrue(job.status.conditions, 'Complete') ? 'Complete' : 'Failed'
        const message = `Saw completed job: ${job.metadata.name}, condition: ${condition}`
        recorder.record(cronJob, 'Normal', 'SawCompletedJob', message)
        const { completionTime } = job.status
        if (completionTime !== undefined && !(lastSuccess !== undefined && lastSuccess >= completionTime)) {
          lastSuccess = completionTime
        }
      } else active.push(reference)
    }
    return { ...status, active, ...(lastSuccess !== undefined && { lastSuccessfulTime: lastSuccess }) }
  }

  async function cleanUp(cronJob: CronJob, jobs: readonly Job[]): Promise<void> {
    const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec
    const started = (job: Job): number => Date.parse(job.status.startTime ?? job.metadata.creationTimestamp)
    for (const [type, limit] of [
      ['Complete', successfulJobsHistoryLimit],
      ['Failed', failedJobsHistoryLimit],
    ] as const) {
      const finished = jobs
        .filter(job => conditionOf(job.status.conditions, type)?.status === 'True')
        .filter(job => job.metadata.deletionTimestamp === undefined)
        .toSorted((a, b) => started(a) - started(b))
      for (const job of finished.slice(0, Math.max(0, finished.length - limit))) await remove(cronJob, job)
    }
  }

  async function remove(cronJob: CronJob, job: Job): Promise<void> {
    await writes.delete(w.jobs, job, { propagationPolicy: 'Background' })
    recorder.record(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`)
  }

  // ---- new Jobs

  async function start(cronJob: CronJob, jobs: readonly Job[], key: string, queue: Queue): Promise<CronJob['status']> {
    const { spec, status, metadata } = cronJob
    if (metadata.deletionTimestamp !== undefined || spec.suspend) return status
    const schedule = parseSchedule(spec.schedule, spec.timeZone)
    if (!schedule) {
      const zone = spec.timeZone ?? ''
      recorder.record(cronJob, 'Warning', 'UnparseableSchedule', `unparseable schedule: "${spec.schedule}" : ${zone}`)
      return status
    }
    const now = w.now()
    const { last, missed } = lastTime(cronJob, schedule, now)
    const next = schedule.next(now)
    if (next !== undefined) queue.addLater(key, next - now + DELAY_MS)
    if (missed > MANY_MISSED) {
      const message = `too many missed start times: ${missed}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`
      recorder.record(cronJob, 'Warning', 'TooManyMissedTimes', message)
    }
    if (last === undefined) return status
    const { startingDeadlineSeconds } = spec
    if (startingDeadlineSeconds !== undefined && last + Number(startingDeadlineSeconds) * 1000 < now) {
      const message = `Missed scheduled time to start a job: ${printTime(last)}`
      recorder.record(cronJob, 'Warning', 'MissSchedule', message)
      return status
    }
    const running = (status.active ?? []).flatMap(({ uid }) => jobs.filter(job => job.metadata.uid === uid))
    if (spec.concurrencyPolicy === 'Forbid' && running.length > 0) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
      recorder.record(cronJob, 'Normal', 'JobAlreadyActive', message)
      return status
    }
    if (spec.concurrencyPolicy === 'Replace') for (const job of running) await remove(cronJob, job)
    const active = spec.concurrencyPolicy === 'Replace' ? [] : (status.active ?? [])
    const job = await create(cronJob, last)
    return { ...status, active: job ? [...active, referenceTo(job)] : active, lastScheduleTime: printTime(last) }
  }

  /** The latest time that has come and for which there was no Job, and how many there were. */
  function lastTime(cronJob: CronJob, schedule: Schedule, now: number): { last: number | undefined; missed: number } {
    const { spec, status, metadata } = cronJob
    const since = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp)
    const deadline = spec.startingDeadlineSeconds
    let time = deadline === undefined ? since : Math.max(since, now - Number(deadline) * 1000)
    let last: number | undefined
    let missed = 0
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = schedule.next(time)
      if (next === undefined || next > now) break
      last = next
      time = next
      missed++
    }
    return { last, missed }
  }

  async function create(cronJob: CronJob, time: number): Promise<Job | undefined> {
    const { jobTemplate } = cronJob.spec
    const name = `${cronJob.metadata.name}-${Math.floor(time / 60_000)}`
    try {
      const job = await writes.create(w.jobs, {
        metadata: {
          name,
          namespace: cronJob.metadata.namespace,
          labels: jobTemplate.metadata?.labels,
          annotations: { ...jobTemplate.metadata?.annotations, [SCHEDULED]: printTime(time) },
          ownerReferences: [controllerRef(cronJob)],
        },
        spec: jobTemplate.spec,
      })
      recorder.record(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${name}`)
      return job
    } catch (error) {
      if (isNamespaceEnding(error)) return undefined
      if (hasReason(error, 'AlreadyExists')) {
        const found = w.jobs.get(cronJob.metadata.namespace ?? '', name)
        return found && controllerOf(found)?.uid === cronJob.metadata.uid ? found : undefined
      }
      recorder.record(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`)
      throw error
    }
  }
}

const referenceTo = ({ apiVersion, kind, metadata }: Job): ObjectReference => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
  apiVersion,
  resourceVersion: metadata.resourceVersion,
})
