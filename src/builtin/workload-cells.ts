// The rows of the kinds that keep pods running or run them to their end.
import { printLabelSelector, selectorOf } from '../meta/selectors/label-selectors.js'
import { ageCell } from '../meta/table.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
} from '../meta/values/access.js'
import { humanDuration, millisOf } from '../meta/values/time.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { ageOf, type Cells, NONE, nameOf, printLabels } from './plain-cells.js'

/** Names and images of the containers that a template starts. */
function containersOf(spec: ValueObject): [string, string] {
  const containers = objectsAt(objectAt(objectAt(spec, 'template'), 'spec'), 'containers')
  const joined = (field: string): string => containers.map(container => stringAt(container, field)).join(',')
  return [joined('name'), joined('image')]
}

export function selectorCell(spec: ValueObject, field = 'selector'): string {
  const selector = selectorOf(objectOrNone(spec, field))
  return (selector.ok && printLabelSelector(selector.value)) || NONE
}

/** So many are wanted, are there, are ready. */
const replicaCells =
  (selector: (spec: ValueObject) => string): Cells =>
  (object, now) => {
    const spec = objectAt(object, 'spec')
    const status = objectAt(object, 'status')
    return [
      nameOf(object),
      numberAt(spec, 'replicas'),
      numberAt(status, 'replicas'),
      numberAt(status, 'readyReplicas'),
      ageOf(object, now),
      ...containersOf(spec),
      selector(spec),
    ]
  }

const readyCell = (spec: ValueObject, status: ValueObject): string =>
  `${numberAt(status, 'readyReplicas')}/${numberAt(spec, 'replicas')}`

const deploymentCells: Cells = (deployment, now) => {
  const spec = objectAt(deployment, 'spec')
  const status = objectAt(deployment, 'status')
  return [
    nameOf(deployment),
    readyCell(spec, status),
    numberAt(status, 'updatedReplicas'),
    numberAt(status, 'availableReplicas'),
    ageOf(deployment, now),
    ...containersOf(spec),
    selectorCell(spec),
  ]
}

const statefulSetCells: Cells = (set, now) => {
  const spec = objectAt(set, 'spec')
  return [nameOf(set), readyCell(spec, objectAt(set, 'status')), ageOf(set, now), ...containersOf(spec)]
}

const DAEMON_COUNTS = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
]

const daemonSetCells: Cells = (set, now) => {
  const spec = objectAt(set, 'spec')
  const status = objectAt(set, 'status')
  return [
    nameOf(set),
    ...DAEMON_COUNTS.map(field => numberAt(status, field)),
    printLabels(mapAt(objectAt(objectAt(spec, 'template'), 'spec'), 'nodeSelector')),
    ageOf(set, now),
    ...containersOf(spec),
    selectorCell(spec),
  ]
}

// ---- jobs

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

const jobCells: Cells = (job, now) => {
  const spec = objectAt(job, 'spec')
  return [
    nameOf(job),
    jobState(job),
    completionsCell(spec, objectAt(job, 'status')),
    durationCell(job, now),
    ageOf(job, now),
    ...containersOf(spec),
    selectorCell(spec),
  ]
}

const cronJobCells: Cells = (job, now): Value[] => {
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
    ...containersOf(template),
    has(template, 'selector') ? selectorCell(template) : NONE,
  ]
}

export const WORKLOAD_CELLS: Readonly<Record<string, Cells>> = {
  'v1 replicationcontrollers': replicaCells(spec => printLabels(mapAt(spec, 'selector'))),
  'apps/v1 replicasets': replicaCells(spec => selectorCell(spec)),
  'apps/v1 deployments': deploymentCells,
  'apps/v1 statefulsets': statefulSetCells,
  'apps/v1 daemonsets': daemonSetCells,
  'batch/v1 jobs': jobCells,
  'batch/v1 cronjobs': cronJobCells,
}
