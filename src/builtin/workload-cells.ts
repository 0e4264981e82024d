// Table rows of jobs and cron jobs.
import { ageCell } from '../meta/table.js'
import { has, numberAt, numberOrNone, objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import { humanDuration, millisOf } from '../meta/values/time.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { containerCells, selectorCell } from './apps/pod-owner.js'
import { ageOf, NONE, nameOf, type TableRow } from './common/table-cells.js'

/** Conditions that tell more than that a job runs, in the order in which they are asked for. */
const TELLING_CONDITIONS = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet']

const trueCondition = (job: ValueObject, type: string): ValueObject | undefined =>
  objectsAt(objectAt(job, 'status'), 'conditions').find(
    condition => stringAt(condition, 'type') === type && stringAt(condition, 'status') === 'True',
  )

function jobState(job: ValueObject): string {
  const told = TELLING_CONDITIONS.find(type => trueCondition(job, type) !== undefined)
  if (told === 'Complete' || told === 'Failed') return told
  return has(objectAt(job, 'metadata'), 'deletionTimestamp') ? 'Terminating' : (told ?? 'Running')
}

function completionsCell(spec: ValueObject, status: ValueObject): string {
  const succeeded = numberAt(status, 'succeeded')
  const completions = numberOrNone(spec, 'completions')
  if (completions !== undefined) return `${succeeded}/${completions}`
  const parallelism = numberAt(spec, 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationCell(job: ValueObject, now: number): string {
  const status = objectAt(job, 'status')
  if (!has(status, 'startTime')) return ''
  const failed = trueCondition(job, 'Failed')
  const end = stringAt(status, 'completionTime') || (failed === undefined ? '' : stringAt(failed, 'lastTransitionTime'))
  return humanDuration((end === '' ? now : millisOf(end)) - millisOf(stringAt(status, 'startTime')))
}

const jobCells: TableRow = (job, now) => {
  const spec = objectAt(job, 'spec')
  return [
    nameOf(job),
    jobState(job),
    completionsCell(spec, objectAt(job, 'status')),
    durationCell(job, now),
    ageOf(job, now),
    ...containerCells(spec),
    selectorCell(spec),
  ]
}

const cronJobCells: TableRow = (job, now): Value[] => {
  const spec = objectAt(job, 'spec')
  const status = objectAt(job, 'status')
  const template = objectAt(objectAt(spec, 'jobTemplate'), 'spec')
  return [
    nameOf(job),
    stringAt(spec, 'schedule'),
    stringAt(spec, 'timeZone') || NONE,
    spec['suspend'] === true ? 'True' : 'False',
    objectsAt(status, 'active').length,
    has(status, 'lastScheduleTime') ? ageCell(status['lastScheduleTime'], now) : NONE,
    ageOf(job, now),
    ...containerCells(template),
    has(template, 'selector') ? selectorCell(template) : NONE,
  ]
}

export const WORKLOAD_CELLS: Readonly<Record<string, TableRow>> = {
  'batch/v1 jobs': jobCells,
  'batch/v1 cronjobs': cronJobCells,
}
