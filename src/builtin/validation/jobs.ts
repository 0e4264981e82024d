// Jobs: pods that run to their end, so many times. Cron jobs: jobs again and again.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { checkLabelSelector, matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { has, mapAt, numberAt, numberOrNone, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkCounts, checkTemplateLabels } from '../apps/pod-owner.js'
import { checkImmutable, checkOneOf, sameValue } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { checkPodTemplate } from '../core/pod/pod-spec.js'
import { generatedLabels, SELECTOR_LABEL } from '../job-labels.js'
import { checkSchedule } from './cron-schedule.js'

// ---- jobs

const checkJob = (job: ValueObject): FieldError[] => [
  ...checkMeta(job, { namespaced: true }),
  ...checkGeneratedSelector(job),
  ...checkSelectedPods(objectAt(job, 'spec')),
  ...checkJobSpec(objectAt(job, 'spec'), 'spec'),
]

export const jobValidation: Validation = {
  create: checkJob,
  update: (job, old) => [
    ...checkJob(job),
    ...checkMetaUpdate(job, old),
    ...checkJobChange(objectAt(job, 'spec'), objectAt(old, 'spec')),
  ],
  status: (job, old) => [
    ...checkMetaUpdate(job, old),
    ...checkCounts(objectAt(job, 'status'), ['active', 'succeeded', 'failed', 'ready', 'terminating'], 'status'),
  ],
}

const COMPLETION_MODES = ['NonIndexed', 'Indexed']
const MAX_PARALLEL_INDEXES = 100_000

/** The spec of a job apart from its selector, which that in a cron job does not have. */
function checkJobSpec(spec: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const policy = objectOrNone(spec, 'podFailurePolicy')
  return [
    ...checkCounts(
      spec,
      ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'],
      path,
    ),
    ...checkCounts(spec, ['backoffLimitPerIndex', 'maxFailedIndexes'], path),
    ...checkCompletionMode(spec, path),
    ...(has(spec, 'podReplacementPolicy')
      ? checkOneOf(
          stringAt(spec, 'podReplacementPolicy'),
          policy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'],
          at('podReplacementPolicy'),
        )
      : []),
    ...checkPodTemplate(objectAt(spec, 'template'), at('template')),
    ...checkRestartPolicy(spec, path),
  ]
}

function checkCompletionMode(spec: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const mode = stringAt(spec, 'completionMode')
  const errors = has(spec, 'completionMode') ? checkOneOf(mode, COMPLETION_MODES, at('completionMode')) : []
  if (mode === 'Indexed') {
    if (!has(spec, 'completions')) {
      errors.push(fieldRequired(at('completions'), 'when completion mode is Indexed'))
    }
    const parallelism = numberAt(spec, 'parallelism')
    if (parallelism > MAX_PARALLEL_INDEXES) {
      const why = `must be less than or equal to ${MAX_PARALLEL_INDEXES} when completion mode is Indexed`
      errors.push(fieldInvalid(at('parallelism'), parallelism, why))
    }
    if (has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex')) {
      errors.push(fieldRequired(at('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'))
    }
    return errors
  }
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = numberOrNone(spec, field)
    if (value !== undefined) errors.push(fieldInvalid(at(field), value, 'requires indexed completion mode'))
  }
  return errors
}

/** A pod that is always restarted does not end. */
function checkRestartPolicy(spec: ValueObject, path: string): FieldError[] {
  const at = childPath(path, 'template.spec.restartPolicy')
  const restart = stringAt(objectAt(objectAt(spec, 'template'), 'spec'), 'restartPolicy')
  if (restart === '' || restart === 'Always') return [fieldRequired(at, 'valid values: "OnFailure", "Never"')]
  if (restart !== 'OnFailure' && restart !== 'Never') return [fieldNotSupported(at, restart, ['OnFailure', 'Never'])]
  if (has(spec, 'podFailurePolicy') && restart !== 'Never') {
    return [fieldInvalid(at, restart, 'only "Never" is supported when podFailurePolicy is specified')]
  }
  return []
}

function checkSelectedPods(spec: ValueObject): FieldError[] {
  const object = objectOrNone(spec, 'selector')
  const path = 'spec.selector'
  const errors = object === undefined ? [fieldRequired(path)] : checkLabelSelector(object, path)
  const selector = selectorOf(object)
  if (!selector.ok) return errors
  return [
    ...errors,
    ...checkTemplateLabels(objectAt(spec, 'template'), labels => matchesLabels(selector.value, labels)),
  ]
}

/** Unless a client says that it brings its own, the selector is the server's. */
function checkGeneratedSelector(job: ValueObject): FieldError[] {
  const spec = objectAt(job, 'spec')
  const selector = objectOrNone(spec, 'selector')
  if (spec['manualSelector'] === true || selector === undefined) return []
  const path = 'spec.template.metadata.labels'
  const labels = mapAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels')
  const expected = generatedLabels(objectAt(job, 'metadata'))
  const errors = Object.keys(expected).flatMap(label => {
    const why = `must be '${expected[label]!}'`
    if (!Object.hasOwn(labels, label)) return [fieldRequired(`${path}[${label}]`, why)]
    return labels[label] === expected[label] ? [] : [fieldInvalid(path, labels, why)]
  })
  if (!sameValue(selector, { matchLabels: { [SELECTOR_LABEL]: expected[SELECTOR_LABEL]! } })) {
    errors.push(fieldInvalid('spec.selector', asStruct(selector), '`selector` not auto-generated'))
  }
  return errors
}

const FIXED = [
  'selector',
  'template',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
]

function checkJobChange(spec: ValueObject, old: ValueObject): FieldError[] {
  return [
    ...checkCompletionsChange(spec, old),
    ...FIXED.flatMap(field => {
      const value = getOwn(spec, field) ?? null
      if (sameValue(value, getOwn(old, field))) return []
      const shown = typeof value === 'object' && value !== null && !Array.isArray(value) ? asStruct(value) : value
      return [fieldInvalid(`spec.${field}`, shown, 'field is immutable')]
    }),
  ]
}

/** A job with indexes may grow and shrink as a whole. */
function checkCompletionsChange(spec: ValueObject, old: ValueObject): FieldError[] {
  const path = 'spec.completions'
  if (stringAt(spec, 'completionMode') !== 'Indexed') return checkImmutable(spec, old, 'completions', path)
  const completions = numberOrNone(spec, 'completions')
  if (completions === undefined || completions === numberOrNone(old, 'completions')) return []
  return completions === numberAt(spec, 'parallelism')
    ? []
    : [fieldInvalid(path, completions, 'can only be modified in tandem with parallelism')]
}

// ---- cron jobs

/** The names of its jobs are made of its own name and of a time. */
const CRON_JOB_NAME_MAX = 52

export const cronJobValidation: Validation = {
  create: job => [
    ...checkMeta(job, { namespaced: true, name: checkCronJobName }),
    ...checkCronJobSpec(objectAt(job, 'spec')),
  ],
  update: (job, old) => [...checkMetaUpdate(job, old), ...checkCronJobSpec(objectAt(job, 'spec'))],
  status: checkMetaUpdate,
}

const checkCronJobName = (name: string): string[] => [
  ...checkDnsSubdomain(name),
  ...(name.length > CRON_JOB_NAME_MAX ? [`must be no more than ${CRON_JOB_NAME_MAX} characters`] : []),
]

function checkCronJobSpec(spec: ValueObject): FieldError[] {
  const template = objectAt(objectAt(spec, 'jobTemplate'), 'spec')
  const path = 'spec.jobTemplate.spec'
  return [
    ...checkScheduleField(stringAt(spec, 'schedule')),
    ...checkCounts(spec, ['startingDeadlineSeconds'], 'spec'),
    ...(has(spec, 'timeZone') ? checkTimeZone(stringAt(spec, 'timeZone')) : []),
    ...checkOneOf(stringAt(spec, 'concurrencyPolicy'), ['Allow', 'Forbid', 'Replace'], 'spec.concurrencyPolicy', {
      required: true,
    }),
    ...checkJobSpec(template, path),
    ...(template['manualSelector'] === true
      ? [fieldNotSupported(childPath(path, 'manualSelector'), true, ['nil', 'false'])]
      : []),
    ...checkCounts(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], 'spec'),
  ]
}

function checkScheduleField(schedule: string): FieldError[] {
  const path = 'spec.schedule'
  if (schedule === '') return [fieldRequired(path)]
  const error = schedule.includes('TZ')
    ? 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
    : checkSchedule(schedule)
  return error === undefined ? [] : [fieldInvalid(path, schedule, error)]
}

function checkTimeZone(zone: string): FieldError[] {
  const told = (error: string): FieldError[] => [fieldInvalid('spec.timeZone', zone, error)]
  if (zone === '') return told('timeZone must be nil or non-empty string')
  if (zone.toLowerCase() === 'local') {
    return told('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  }
  return isTimeZone(zone) ? [] : told(`unknown time zone ${zone}`)
}

function isTimeZone(name: string): boolean {
  // Offsets are time zones to others, but have no name.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return true
  } catch {
    return false
  }
}
