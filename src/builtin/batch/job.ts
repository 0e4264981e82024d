// Job: pods of one template that run to their end, a number of times.
import { fieldInvalid, fieldRequired, keyPath } from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import { humanDuration, millisOf } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import { containerCells, labelByTemplate, selectorCell, specWithTemplate } from '../apps/pod-owner.js'
import { defineKind } from '../common/define-kind.js'
import { asSelector } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field, type Rule } from '../common/rules.js'
import { numberField, selectableFields } from '../common/selectable-fields.js'
import { counted, inTurn, keepGeneration, keepSpec } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { generatedLabels, labelJob } from './job-labels.js'
import {
  defaultFailurePolicy,
  jobSelector,
  jobSpecChange,
  jobSpecRules,
  type SuspendedJobRules,
  templateRulesOf,
} from './job-spec.js'
import { jobStatus } from './job-status.js'
import { jobWarnings } from './job-warnings.js'

// ---- defaults and strategy

function defaults(job: ValueObject): void {
  const spec = specWithTemplate(job)
  if (!has(spec, 'parallelism') && !has(spec, 'completions')) spec['completions'] = 1
  setDefault(spec, 'parallelism', 1, false)
  setDefault(spec, 'backoffLimit', has(spec, 'backoffLimitPerIndex') ? 2 ** 31 - 1 : 6, false)
  setDefault(spec, 'completionMode', 'NonIndexed', false)
  setDefault(spec, 'suspend', false, false)
  setDefault(spec, 'manualSelector', false, false)
  setDefault(spec, 'podReplacementPolicy', has(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed', false)
  defaultFailurePolicy(spec)
  labelByTemplate(job)
}

const PODS_STAY =
  'child pods are preserved by default when jobs are deleted; ' +
  'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

// ---- validation

/** Without a selector of its own, a job has the labels and the selector that the server generated. */
const generatedSelector = check((job, _, old) => {
  const spec = objectAt(job, 'spec')
  const object = objectOrNone(spec, 'selector')
  if (spec['manualSelector'] === true || object === undefined) return []
  const meta = objectAt(job, 'metadata')
  const path = 'spec.template.metadata.labels'
  const labels = labelsOfTemplate(job)
  const expected = generatedLabels(meta)
  // A job from a time before the labels with a prefix may lack them.
  const isOlder =
    old !== undefined &&
    Object.keys(expected).some(label => label.includes('/') && !Object.hasOwn(labelsOfTemplate(old), label))
  const names = Object.keys(expected).filter(label => !isOlder || !label.includes('/'))
  const errors = names.flatMap(label => {
    const why = `must be '${expected[label]!}'`
    if (!Object.hasOwn(labels, label)) return [fieldRequired(keyPath(path, label), why)]
    return labels[label] === expected[label] ? [] : [fieldInvalid(keyPath(path, label), labels, why)]
  })
  if (stringAt(meta, 'uid') === '') errors.unshift(fieldRequired('metadata.uid'))
  const selector = selectorOf(object)
  const generated = Object.fromEntries(names.map(label => [label, expected[label]!]))
  if (selector.ok && !matchesLabels(selector.value, generated)) {
    errors.push(fieldInvalid('spec.selector', asSelector(object), '`selector` not auto-generated'))
  }
  return errors
})

const labelsOfTemplate = (job: ValueObject): Readonly<Record<string, string>> =>
  mapAt(objectAt(objectAt(objectAt(job, 'spec'), 'template'), 'metadata'), 'labels')

/** The pods of a job with indexes have hostnames that end in their index. */
const hostnamesAreLabels = check(job => {
  const spec = objectAt(job, 'spec')
  const completions = numberAt(spec, 'completions')
  if (stringAt(spec, 'completionMode') !== 'Indexed' || completions <= 0) return []
  const { name = '' } = metaOf(job)
  const hostname = `${name}-${completions - 1}`
  if (checkDnsLabel(hostname).length === 0) return []
  const why = `will not able to create pod with invalid DNS label: ${hostname}`
  return [fieldInvalid('metadata.name', name, why)]
})

const specRules: readonly Rule[] = [...jobSpecRules, jobSelector]

const jobRules: readonly Rule[] = [
  metadata({ namespaced: true }),
  generatedSelector,
  field('spec', specRules),
  hostnamesAreLabels,
]

/** An update reports what is wrong with the spec twice, as kube-apiserver does. */
const updateRules = (suspended: SuspendedJobRules): readonly Rule[] => [
  ...jobRules,
  metadataUpdate,
  (job, old, path, errors) => {
    const change = jobSpecChange(templateRulesOf(old ?? {}, suspended))
    field('spec', [...specRules, ...change])(job, old, path, errors)
  },
]

const validationOf = (suspended: SuspendedJobRules): ReturnType<typeof validationRules> =>
  validationRules({ create: jobRules, update: updateRules(suspended), status: [metadataUpdate, jobStatus] })

const RESOURCES = 'MutablePodResourcesForSuspendedJobs'
const SCHEDULING = 'MutableSchedulingDirectivesForSuspendedJobs'

// ---- Table

/** Conditions that say more than that a job runs; the first that is true is shown. */
const SHOWN_CONDITIONS = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet']

const trueCondition = (job: ValueObject, type: string): ValueObject | undefined =>
  objectsAt(objectAt(job, 'status'), 'conditions').find(
    condition => stringAt(condition, 'type') === type && stringAt(condition, 'status') === 'True',
  )

function stateCell(job: ValueObject): string {
  const shown = SHOWN_CONDITIONS.find(type => trueCondition(job, type) !== undefined)
  if (shown === 'Complete' || shown === 'Failed') return shown
  return has(objectAt(job, 'metadata'), 'deletionTimestamp') ? 'Terminating' : (shown ?? 'Running')
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

const row: TableRow = (job, now) => {
  const spec = objectAt(job, 'spec')
  return [
    nameOf(job),
    stateCell(job),
    completionsCell(spec, objectAt(job, 'status')),
    durationCell(job, now),
    ageOf(job, now),
    ...containerCells(spec),
    selectorCell(spec),
  ]
}

export const job = defineKind('batch/v1', 'Job', {
  defaults,
  strategy: counted('batch/v1.JobStatus', {
    prepareForCreate: labelJob,
    // A body without a spec got no labels when it was decoded.
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, labelByTemplate),
    defaultPropagation: { warning: PODS_STAY },
  }),
  validation: validationOf({ scheduling: true, resources: true }),
  changedBy: {
    [RESOURCES]: { validation: validationOf({ scheduling: true, resources: false }) },
    [SCHEDULING]: { validation: validationOf({ scheduling: false, resources: true }) },
    [`${RESOURCES} ${SCHEDULING}`]: { validation: validationOf({ scheduling: false, resources: false }) },
  },
  warnings: jobWarnings('spec'),
  table: row,
  selectableFields: selectableFields(
    { 'status.successful': numberField('status', 'succeeded') },
    { kindInMessage: 'Job' },
  ),
})
