// The status of a job: a job ends once, with the conditions in their order, and its numbers agree with each other.
// A rule about a field applies when the field, or what it is compared with, changes: a stored status stays valid.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { has, numberAt, numberOrNone, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { millisOf } from '../../meta/values/time.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { isConditionTrue } from '../common/conditions.js'
import { sameValue } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { check, notNegative, type Rule, run } from '../common/rules.js'
import { firstCommonIndex, parseIndexes } from './indexes.js'

const PATH = 'status'
const at = (name: string): string => childPath(PATH, name)

/** A job, and the job before the write. */
interface Change {
  readonly job: ValueObject
  readonly spec: ValueObject
  readonly status: ValueObject
  readonly old: ValueObject
}

const isTrue = (status: ValueObject, type: string): boolean => isConditionTrue(objectsAt(status, 'conditions'), type)
const isFinished = (status: ValueObject): boolean => isTrue(status, 'Complete') || isTrue(status, 'Failed')

const changes = ({ status, old }: Change, ...names: readonly string[]): boolean =>
  names.some(name => !sameValue(getOwn(status, name), getOwn(old, name)))
const changesCondition = ({ status, old }: Change, ...types: readonly string[]): boolean =>
  types.some(type => isTrue(status, type) !== isTrue(old, type))
const changesFinished = ({ status, old }: Change): boolean => isFinished(status) !== isFinished(old)

const wrongConditions = (why: string): FieldError[] => [fieldInvalid(at('conditions'), undefined, why)]

// ---- the status in itself

function checkUncountedPods(status: ValueObject): FieldError[] {
  const pods = objectAt(status, 'uncountedTerminatedPods')
  const seen = new Set<string>()
  return ['succeeded', 'failed'].flatMap(name =>
    stringsAt(pods, name).flatMap((uid, i) => {
      const path = indexPath(at(`uncountedTerminatedPods.${name}`), i)
      if (uid === '') return [fieldInvalid(path, uid, 'must not be empty')]
      if (seen.has(uid)) return [fieldDuplicate(path, uid)]
      seen.add(uid)
      return []
    }),
  )
}

function checkEnd(change: Change): FieldError[] {
  const { status } = change
  const isComplete = isTrue(status, 'Complete')
  const completion = getOwn(status, 'completionTime') ?? null
  const errors: FieldError[] = []
  if (changesCondition(change, 'Complete', 'Failed') && isComplete && isTrue(status, 'Failed')) {
    errors.push(...wrongConditions('cannot set Complete=True and Failed=true conditions'))
  }
  if (changesCondition(change, 'Complete', 'FailureTarget') && isComplete && isTrue(status, 'FailureTarget')) {
    errors.push(...wrongConditions('cannot set Complete=True and FailureTarget=true conditions'))
  }
  if (changesCondition(change, 'Complete') || changes(change, 'completionTime')) {
    if (completion !== null && !isComplete) {
      const why = 'cannot set completionTime when there is no Complete=True condition'
      errors.push(fieldInvalid(at('completionTime'), completion, why))
    }
    if (completion === null && isComplete) {
      errors.push(fieldRequired(at('completionTime'), 'completionTime is required for Complete jobs'))
    }
  }
  if (changes(change, 'startTime', 'completionTime') && has(status, 'startTime') && completion !== null) {
    if (millisOf(stringAt(status, 'completionTime')) < millisOf(stringAt(status, 'startTime'))) {
      errors.push(fieldInvalid(at('completionTime'), completion, 'must be equal to or after `startTime`'))
    }
  }
  if (changesCondition(change, 'Failed') || changes(change, 'failedIndexes')) {
    if (isTrue(status, 'Failed') && !isTrue(status, 'FailureTarget')) {
      errors.push(...wrongConditions('cannot set Failed=True condition without the FailureTarget=true condition'))
    }
  }
  if (
    changesCondition(change, 'Complete', 'SuccessCriteriaMet') &&
    isComplete &&
    !isTrue(status, 'SuccessCriteriaMet')
  ) {
    errors.push(...wrongConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  }
  return errors
}

/** A job that has ended has no pods left. */
function checkFinished(change: Change): FieldError[] {
  const { spec, status } = change
  if (!isFinished(status)) return []
  const errors: FieldError[] = []
  const active = numberAt(status, 'active')
  if ((changesFinished(change) || changes(change, 'active')) && active > 0) {
    errors.push(fieldInvalid(at('active'), active, 'active>0 is invalid for finished job'))
  }
  const isEmpty = spec['suspend'] === true && numberOrNone(spec, 'completions') === 0
  if ((changesFinished(change) || changes(change, 'startTime')) && !isEmpty && !has(status, 'startTime')) {
    errors.push(fieldRequired(at('startTime'), 'startTime is required for finished job'))
  }
  const pods = objectAt(status, 'uncountedTerminatedPods')
  const uncounted = stringsAt(pods, 'failed').length + stringsAt(pods, 'succeeded').length
  if ((changesFinished(change) || changes(change, 'uncountedTerminatedPods')) && uncounted > 0) {
    const shown = asGoStruct('batch/v1.UncountedTerminatedPods', pods)
    errors.push(fieldInvalid(at('uncountedTerminatedPods'), shown, 'must be empty for finished job'))
  }
  return errors
}

function checkIndexes(change: Change): FieldError[] {
  const { spec, status } = change
  const completions = numberOrNone(spec, 'completions')
  const hasLimit = has(spec, 'backoffLimitPerIndex')
  const [completed, failed] = [stringAt(status, 'completedIndexes'), stringAt(status, 'failedIndexes')]
  const isIndexed = stringAt(spec, 'completionMode') === 'Indexed'
  const errors: FieldError[] = []
  const parse = (name: string): void => {
    const text = stringAt(status, name)
    const indexes = completions === undefined ? undefined : parseIndexes(text, completions)
    if (indexes?.ok === false) errors.push(fieldInvalid(at(name), text, `error parsing ${name}: ${indexes.error}`))
  }
  if (changes(change, 'completedIndexes')) parse('completedIndexes')
  if (changes(change, 'failedIndexes') && hasLimit && has(status, 'failedIndexes')) parse('failedIndexes')
  if (changes(change, 'completedIndexes') && completed !== '' && !isIndexed) {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    errors.push(fieldInvalid(at('completedIndexes'), completed, why))
  }
  if (changes(change, 'failedIndexes') && has(status, 'failedIndexes') && !hasLimit) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    errors.push(fieldInvalid(at('failedIndexes'), failed, why))
  }
  if (changes(change, 'failedIndexes', 'completedIndexes') && completions !== undefined) {
    const common = firstCommonIndex(completed, failed, completions)
    if (common !== undefined) {
      const why = `failedIndexes and completedIndexes overlap at index: ${common}`
      errors.push(fieldInvalid(at('failedIndexes'), failed, why))
    }
  }
  return errors
}

function checkPodCounts(change: Change): FieldError[] {
  const { status } = change
  const errors: FieldError[] = []
  const [terminating, ready] = [numberAt(status, 'terminating'), numberAt(status, 'ready')]
  if ((changesFinished(change) || changes(change, 'terminating')) && terminating > 0 && isFinished(status)) {
    errors.push(fieldInvalid(at('terminating'), terminating, 'terminating>0 is invalid for finished job'))
  }
  if (changes(change, 'ready', 'active') && ready > numberAt(status, 'active')) {
    errors.push(fieldInvalid(at('ready'), ready, 'cannot set more ready pods than active'))
  }
  return errors
}

function checkSuccess({ spec, status }: Change): FieldError[] {
  const errors: FieldError[] = []
  const isMet = isTrue(status, 'SuccessCriteriaMet')
  if (isMet && isTrue(status, 'Failed')) {
    errors.push(...wrongConditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'))
  }
  if (isMet && isTrue(status, 'FailureTarget')) {
    errors.push(...wrongConditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  }
  if (has(spec, 'successPolicy') && !isMet && isTrue(status, 'Complete')) {
    errors.push(
      ...wrongConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'),
    )
  }
  return errors
}

// ---- the status by the one before

const LASTING_CONDITIONS = ['Failed', 'Complete', 'FailureTarget']

const isFalse = (status: ValueObject, type: string): boolean =>
  objectsAt(status, 'conditions').some(
    condition => stringAt(condition, 'type') === type && stringAt(condition, 'status') === 'False',
  )

function checkProgress(change: Change): FieldError[] {
  const { spec, status, old } = change
  const errors = LASTING_CONDITIONS.filter(type => isTrue(old, type) && !isTrue(status, type)).flatMap(type =>
    wrongConditions(`cannot disable the terminal ${type}=True condition`),
  )
  const decreases = (name: string): void => {
    const value = numberAt(status, name)
    if (value < numberAt(old, name)) errors.push(fieldInvalid(at(name), value, `cannot decrease the ${name} counter`))
  }
  decreases('failed')
  const mayShrink =
    stringAt(spec, 'completionMode') === 'Indexed' &&
    numberOrNone(spec, 'completions') === numberOrNone(spec, 'parallelism')
  if (!mayShrink) decreases('succeeded')
  const isMoved = (name: string): boolean => has(old, name) && changes(change, name)
  if (has(status, 'completionTime') && isMoved('completionTime')) {
    errors.push(fieldInvalid(at('completionTime'), getOwn(status, 'completionTime') ?? null, 'field is immutable'))
  }
  const isResuming = isTrue(old, 'Suspended') && isFalse(status, 'Suspended')
  if (isMoved('startTime') && spec['suspend'] !== true && !isResuming) {
    const why = 'field is immutable for unsuspended job once set'
    errors.push(fieldInvalid(at('startTime'), getOwn(status, 'startTime') ?? null, why))
  }
  const [wasMet, isMet] = [isTrue(old, 'SuccessCriteriaMet'), isTrue(status, 'SuccessCriteriaMet')]
  if (wasMet && !isMet) errors.push(...wrongConditions('cannot disable the SuccessCriteriaMet=True condition'))
  if (isTrue(old, 'Complete') && !wasMet && isMet) {
    const why = 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'
    errors.push(...wrongConditions(why))
  }
  return errors
}

const COUNTS = [notNegative('active', 'succeeded', 'failed', 'ready', 'terminating')]

/** The rules for a write to the status of a job, in the order of the errors. */
export const jobStatus: Rule = check((job, _, before) => {
  const status = objectAt(job, 'status')
  const change = { job, spec: objectAt(job, 'spec'), status, old: objectAt(before ?? {}, 'status') }
  return [
    ...run(COUNTS, status, undefined, PATH),
    ...checkUncountedPods(status),
    ...checkEnd(change),
    ...checkFinished(change),
    ...checkIndexes(change),
    ...checkPodCounts(change),
    ...checkSuccess(change),
    ...checkProgress(change),
  ]
})
