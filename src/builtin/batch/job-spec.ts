// The spec of a job, in a Job and in the template of a CronJob: defaults and rules.
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { checkDomainPath } from '../../meta/object/domain-path.js'
import { checkLabelSelector, matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import {
  has,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkTemplateLabels } from '../apps/pod-owner.js'
import { isConditionTrue } from '../common/conditions.js'
import { checkImmutable, checkOneOf, sameValue } from '../common/field-checks.js'
import { asGoPodSpec, asGoStruct, asGoTemplate } from '../common/go-struct.js'
import { check, checkUpdate, immutable, maxBytes, notNegative, type Rule, when } from '../common/rules.js'
import { checkPodTemplate } from '../core/pod/spec/pod-spec.js'
import { podFailurePolicy, successPolicy } from './job-policies.js'

// ---- defaults

/** A failure policy names conditions that are true unless it says otherwise. */
export function defaultFailurePolicy(spec: ValueObject): void {
  for (const rule of objectsAt(objectAt(spec, 'podFailurePolicy'), 'rules')) {
    for (const condition of objectsAt(rule, 'onPodConditions')) setDefault(condition, 'status', 'True')
  }
}

// ---- completions

const COMPLETION_MODES = ['NonIndexed', 'Indexed']
const MAX_PARALLEL_INDEXES = 100_000
const MAX_FAILED_INDEXES = 100_000
/** Above this number of completions a limit for each index needs lower bounds for the other numbers. */
const MANY_COMPLETIONS = 100_000
const MAX_WITH_MANY_COMPLETIONS = 10_000
const MAX_MANAGED_BY = 63

const failedIndexesNeedLimit = check((spec, path) =>
  has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex')
    ? [fieldRequired(childPath(path, 'backoffLimitPerIndex'), 'when maxFailedIndexes is specified')]
    : [],
)

const completionMode = check((spec, path) => {
  const mode = stringAt(spec, 'completionMode')
  const errors = has(spec, 'completionMode')
    ? checkOneOf(mode, COMPLETION_MODES, childPath(path, 'completionMode'))
    : []
  if (mode === 'Indexed') return [...errors, ...checkIndexed(spec, path)]
  if (has(spec, 'completionMode') && mode !== 'NonIndexed') return errors
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = numberOrNone(spec, name)
    if (value !== undefined) errors.push(fieldInvalid(childPath(path, name), value, 'requires indexed completion mode'))
  }
  return errors
})

function checkIndexed(spec: ValueObject, path: string): FieldError[] {
  const completions = numberOrNone(spec, 'completions')
  const failed = numberOrNone(spec, 'maxFailedIndexes')
  const errors: FieldError[] = []
  const atMost = (name: string, max: number, further = ''): void => {
    const value = numberAt(spec, name)
    if (value <= max) return
    errors.push(fieldInvalid(childPath(path, name), value, `must be less than or equal to ${max}${further}`))
  }
  if (completions === undefined) {
    errors.push(fieldRequired(childPath(path, 'completions'), 'when completion mode is Indexed'))
  }
  atMost('parallelism', MAX_PARALLEL_INDEXES, ' when completion mode is Indexed')
  if (completions !== undefined && failed !== undefined && failed > completions) {
    errors.push(fieldInvalid(childPath(path, 'maxFailedIndexes'), failed, 'must be less than or equal to completions'))
  }
  atMost('maxFailedIndexes', MAX_FAILED_INDEXES)
  if (completions === undefined || completions <= MANY_COMPLETIONS || !has(spec, 'backoffLimitPerIndex')) return errors
  if (failed === undefined) {
    const why = `must be specified when completions is above ${MANY_COMPLETIONS}`
    errors.push(fieldRequired(childPath(path, 'maxFailedIndexes'), why))
  }
  const further = ` when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`
  atMost('parallelism', MAX_WITH_MANY_COMPLETIONS, further)
  atMost('maxFailedIndexes', MAX_WITH_MANY_COMPLETIONS, further)
  return errors
}

// ---- pods

const podReplacementPolicy = check((spec, path) => {
  if (!has(spec, 'podReplacementPolicy')) return []
  const supported = has(spec, 'podFailurePolicy') ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  return checkOneOf(stringAt(spec, 'podReplacementPolicy'), supported, childPath(path, 'podReplacementPolicy'))
})

/** A pod that is always restarted does not end. */
const restartPolicy = check((spec, path) => {
  const at = childPath(path, 'template.spec.restartPolicy')
  const restart = stringAt(objectAt(objectAt(spec, 'template'), 'spec'), 'restartPolicy')
  if (restart === '' || restart === 'Always') return [fieldRequired(at, 'valid values: "OnFailure", "Never"')]
  if (restart !== 'OnFailure' && restart !== 'Never') return [fieldNotSupported(at, restart, ['OnFailure', 'Never'])]
  if (has(spec, 'podFailurePolicy') && restart !== 'Never') {
    return [fieldInvalid(at, restart, 'only "Never" is supported when podFailurePolicy is specified')]
  }
  return []
})

/** The rules for a spec apart from its selector, which the template of a cron job does not have. */
export const jobSpecRules: readonly Rule[] = [
  notNegative(
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ),
  failedIndexesNeedLimit,
  when(
    spec => has(spec, 'managedBy'),
    [
      check((spec, path) => checkDomainPath(stringAt(spec, 'managedBy'), childPath(path, 'managedBy'))),
      maxBytes('managedBy', MAX_MANAGED_BY),
    ],
  ),
  completionMode,
  podFailurePolicy,
  successPolicy,
  podReplacementPolicy,
  check((spec, path, old) =>
    checkPodTemplate(objectAt(spec, 'template'), childPath(path, 'template'), old && objectAt(old, 'template')),
  ),
  restartPolicy,
]

/** The selector must find the pods of the template. */
export const jobSelector = check(spec => {
  const object = objectOrNone(spec, 'selector')
  const path = 'spec.selector'
  const errors = object === undefined ? [fieldRequired(path)] : checkLabelSelector(object, path)
  const selector = selectorOf(object)
  if (!selector.ok) return errors
  return [
    ...errors,
    ...checkTemplateLabels(objectAt(spec, 'template'), labels => matchesLabels(selector.value, labels)),
  ]
})

// ---- changes

/** A job with indexes may grow and shrink together with its parallelism. */
const completionsChange = checkUpdate((spec, old, path) => {
  const at = childPath(path, 'completions')
  if (stringAt(spec, 'completionMode') !== 'Indexed') return checkImmutable(spec, old, 'completions', at)
  const completions = numberOrNone(spec, 'completions')
  if (completions === undefined || completions === numberOrNone(old, 'completions')) return []
  return completions === numberAt(spec, 'parallelism')
    ? []
    : [fieldInvalid(at, completions, 'can only be modified in tandem with spec.parallelism')]
})

/** What may change in the template of a job that was suspended after it had started. Without its gate, it may not. */
export interface SuspendedJobRules {
  /** MutableSchedulingDirectivesForSuspendedJobs: without it, only jobs that never started are placed otherwise. */
  readonly scheduling: boolean
  /** MutablePodResourcesForSuspendedJobs: without it, no job gets other resources. */
  readonly resources: boolean
}

/** What may change in the template of one job. */
interface TemplateRules extends SuspendedJobRules {
  readonly isSuspended: boolean
}

/** The pods of a suspended job that runs none may be placed otherwise and may get other resources. */
export function templateRulesOf(job: ValueObject, { scheduling, resources }: SuspendedJobRules): TemplateRules {
  const status = objectAt(job, 'status')
  const isSuspended = objectAt(job, 'spec')['suspend'] === true
  const isNew = !has(status, 'startTime')
  const isStopped = isNew || isConditionTrue(objectsAt(status, 'conditions'), 'Suspended')
  const mayChange = isSuspended && isStopped && numberAt(status, 'active') === 0
  return {
    isSuspended,
    scheduling: scheduling ? mayChange : isSuspended && isNew,
    resources: resources && mayChange,
  }
}

/** Members of the pod spec, beside node affinity, that say where a pod runs and when it is scheduled. */
const SCHEDULING_FIELDS = ['nodeSelector', 'tolerations', 'schedulingGates']

/** The template with the old values of all that says where its pods run. */
function withOldScheduling(template: ValueObject, old: ValueObject): ValueObject {
  const [spec, oldSpec] = [objectAt(template, 'spec'), objectAt(old, 'spec')]
  const kept: ValueObject = { ...spec }
  for (const name of SCHEDULING_FIELDS) take(kept, oldSpec, name)
  const affinity: ValueObject = { ...objectAt(spec, 'affinity') }
  take(affinity, objectAt(oldSpec, 'affinity'), 'nodeAffinity')
  const hasAffinity = Object.keys(affinity).length > 0 || has(oldSpec, 'affinity')
  if (hasAffinity) kept['affinity'] = affinity
  else delete kept['affinity']
  return { ...template, metadata: objectAt(old, 'metadata'), spec: kept }
}

function withOldSizes(spec: ValueObject, oldSpec: ValueObject): ValueObject {
  const kept: ValueObject = { ...spec }
  for (const name of ['containers', 'initContainers']) {
    const [containers, before] = [objectsAt(spec, name), objectsAt(oldSpec, name)]
    if (containers.length !== before.length || containers.length === 0) continue
    kept[name] = containers.map((container, i) => withOldResources(container, before[i]!))
  }
  return kept
}

function withOldResources(container: ValueObject, before: ValueObject): ValueObject {
  if (stringAt(container, 'name') !== stringAt(before, 'name')) return container
  const kept: ValueObject = { ...container }
  take(kept, before, 'resources')
  return kept
}

function take(object: ValueObject, from: ValueObject, name: string): void {
  const value = getOwn(from, name)
  if (value === undefined) delete object[name]
  else object[name] = value
}

const templateChange = ({ isSuspended, scheduling, resources }: TemplateRules): Rule =>
  checkUpdate((spec, old, path) => {
    const template = objectAt(spec, 'template')
    const oldTemplate = objectAt(old, 'template')
    const kept = scheduling ? withOldScheduling(template, oldTemplate) : template
    if (!isSuspended || !resources) {
      if (sameValue(kept, oldTemplate)) return []
      return [fieldInvalid(childPath(path, 'template'), asGoTemplate(template), 'field is immutable')]
    }
    // Then kube-apiserver compares nothing but the specs.
    const oldSpec = objectAt(oldTemplate, 'spec')
    if (sameValue(withOldSizes(objectAt(kept, 'spec'), oldSpec), oldSpec)) return []
    const shown = asGoPodSpec(objectAt(template, 'spec'))
    return [fieldInvalid(childPath(path, 'template.spec'), shown, 'field is immutable')]
  })

const immutableStruct = (name: string, type: string): Rule =>
  checkUpdate((spec, old, path) => {
    if (sameValue(getOwn(spec, name), getOwn(old, name))) return []
    const value = objectOrNone(spec, name)
    const shown = value === undefined ? null : asGoStruct(type, value)
    return [fieldInvalid(childPath(path, name), shown, 'field is immutable')]
  })

/** What may not change. */
export const jobSpecChange = (template: TemplateRules): readonly Rule[] => [
  completionsChange,
  immutable('selector', { selector: true }),
  templateChange(template),
  immutable('completionMode', { typed: true }),
  immutableStruct('podFailurePolicy', 'batch/v1.PodFailurePolicy'),
  immutable('backoffLimitPerIndex'),
  immutable('managedBy', { typed: true }),
  immutableStruct('successPolicy', 'batch/v1.SuccessPolicy'),
]
