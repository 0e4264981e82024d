// CronJob: jobs of one template at the times of a schedule.
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { ageCell } from '../../meta/table.js'
import { ensureObject, has, objectAt, objectsAt, setDefault, stringAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { containerCells, selectorCell } from '../apps/pod-owner.js'
import { defineKind, type Warnings } from '../common/define-kind.js'
import { sameValue } from '../common/field-checks.js'
import { asSelector } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field, notNegative, onCreate, oneOf, type Rule } from '../common/rules.js'
import { counted } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { defaultPodTemplate } from '../core/pod/defaults.js'
import { checkSchedule, isTimeZone } from './cron-schedule.js'
import { defaultFailurePolicy, jobSpecRules } from './job-spec.js'
import { jobWarnings } from './job-warnings.js'

function defaults(job: ValueObject): void {
  const spec = ensureObject(job, 'spec')
  setDefault(spec, 'concurrencyPolicy', 'Allow')
  setDefault(spec, 'suspend', false, false)
  setDefault(spec, 'successfulJobsHistoryLimit', 3, false)
  setDefault(spec, 'failedJobsHistoryLimit', 1, false)
  const jobSpec = ensureObject(ensureObject(spec, 'jobTemplate'), 'spec')
  defaultPodTemplate(ensureObject(jobSpec, 'template'))
  defaultFailurePolicy(jobSpec)
}

// ---- validation

/** The names of the jobs are the name of the cron job and eleven characters for the time, 63 in all. */
const NAME_MAX = 52

const shortName = check(job => {
  const { name = '' } = metaOf(job)
  return name.length > NAME_MAX
    ? [fieldInvalid('metadata.name', name, `must be no more than ${NAME_MAX} characters`)]
    : []
})

const schedule = check((spec, path, old) => {
  const text = stringAt(spec, 'schedule')
  const at = childPath(path, 'schedule')
  if (text === '') return [fieldRequired(at)]
  const error = checkSchedule(text)
  const errors = error === undefined ? [] : [fieldInvalid(at, text, error)]
  if (!text.includes('TZ')) return errors
  if (old === undefined || !stringAt(old, 'schedule').includes('TZ')) {
    errors.push(fieldInvalid(at, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  } else if (has(spec, 'timeZone')) {
    errors.push(fieldInvalid(at, text, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  }
  return errors
})

const timeZone = check((spec, path, old) =>
  has(spec, 'timeZone') && !(old !== undefined && sameValue(getOwn(old, 'timeZone'), getOwn(spec, 'timeZone')))
    ? checkTimeZone(stringAt(spec, 'timeZone'), childPath(path, 'timeZone'))
    : [],
)

function checkTimeZone(zone: string, path: string): FieldError[] {
  const invalid = (why: string): FieldError => fieldInvalid(path, zone, why)
  if (zone === '') return [invalid('timeZone must be nil or non-empty string')]
  if (!zone.split('/').every(isZoneName)) return [invalid(`unknown time zone ${zone}`)]
  if (zone.toLowerCase() === 'local') {
    return [invalid('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')]
  }
  return isTimeZone(zone) ? [] : [invalid(`unknown time zone ${zone}`)]
}

const isZoneName = (part: string): boolean =>
  part !== '.' && part !== '..' && !part.startsWith('-') && /^[A-Za-z._0-9+-]{1,14}$/.test(part)

/** The selector of each job is generated. */
const noSelector = check((jobSpec, path) => {
  const errors: FieldError[] = []
  if (has(jobSpec, 'selector')) {
    const shown = asSelector(getOwn(jobSpec, 'selector'))
    errors.push(fieldInvalid(childPath(path, 'selector'), shown, '`selector` will be auto-generated'))
  }
  if (jobSpec['manualSelector'] === true) {
    errors.push(fieldNotSupported(childPath(path, 'manualSelector'), true, ['nil', 'false']))
  }
  return errors
})

const specRules: readonly Rule[] = [
  schedule,
  notNegative('startingDeadlineSeconds'),
  timeZone,
  oneOf('concurrencyPolicy', ['Allow', 'Forbid', 'Replace'], { required: true }),
  field('jobTemplate', [field('spec', [...jobSpecRules, noSelector])]),
  notNegative('successfulJobsHistoryLimit', 'failedJobsHistoryLimit'),
]

// ---- warnings

const ofJob = jobWarnings('spec.jobTemplate.spec')

const ZONE_IN_SCHEDULE =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'

const warnings: Warnings = (job, old) => {
  const hasZone = old !== undefined && stringAt(objectAt(job, 'spec'), 'schedule').includes('TZ')
  return [...ofJob(job, old), ...(hasZone ? [ZONE_IN_SCHEDULE] : [])]
}

// ---- Table

const row: TableRow = (job, now) => {
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

export const cronJob = defineKind('batch/v1', 'CronJob', {
  defaults,
  strategy: counted('batch/v1.CronJobStatus'),
  validation: validationRules({
    create: [metadata({ namespaced: true }), field('spec', specRules), onCreate([shortName])],
    update: [metadataUpdate, field('spec', specRules)],
    // kube-apiserver checks only what it checks in every object.
    status: [],
  }),
  warnings,
  table: row,
})
