// Classes that pods choose from by name: how urgent they are, and what runs them.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { checkLabels } from '../../meta/selectors/label-selectors.js'
import { mapAt, numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { checkResources } from '../core/pod/container-resources.js'
import { checkTolerations } from '../core/pod/scheduling.js'
import { findSystemClass, SYSTEM_PRIORITY_PREFIX } from '../priority-classes.js'

// ---- priority

/** Above are the classes of the system. */
const HIGHEST_PRIORITY = 1_000_000_000
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never']

export const priorityClassValidation: Validation = {
  create: made => [
    ...checkMeta(made, { namespaced: false }),
    ...checkPriority(made),
    ...checkPreemption(stringAt(made, 'preemptionPolicy')),
  ],
  update: (made, old) => [
    ...checkMetaUpdate(made, old),
    ...(numberAt(made, 'value') === numberAt(old, 'value')
      ? []
      : [fieldForbidden('value', 'may not be changed in an update.')]),
    ...checkImmutable(made, old, 'preemptionPolicy'),
  ],
}

function checkPriority(made: ValueObject): FieldError[] {
  const { name = '' } = metaOf(made)
  const value = numberAt(made, 'value')
  if (!name.startsWith(SYSTEM_PRIORITY_PREFIX)) {
    const why = `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`
    return value > HIGHEST_PRIORITY ? [fieldForbidden('value', why)] : []
  }
  const error = systemClassError(name, value, made['globalDefault'] === true)
  const reserved = `priority class names with '${SYSTEM_PRIORITY_PREFIX}' prefix are reserved for system use only. error: `
  return error === undefined ? [] : [fieldForbidden('metadata.name', reserved + error)]
}

/** The system's own classes may be written, as they are. */
function systemClassError(name: string, value: number, isDefault: boolean): string | undefined {
  const known = findSystemClass(name)
  if (known === undefined) return `${name} is not a known system priority class`
  if (known.value !== value) return `value of ${name} PriorityClass must be ${known.value}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

function checkPreemption(policy: string): FieldError[] {
  if (policy === '') return [fieldRequired('preemptionPolicy')]
  return PREEMPTION_POLICIES.includes(policy)
    ? []
    : [fieldNotSupported('preemptionPolicy', policy, PREEMPTION_POLICIES)]
}

// ---- runtimes

const checkRuntime = (made: ValueObject): FieldError[] => {
  const handler = stringAt(made, 'handler')
  const overhead = objectOrNone(made, 'overhead')
  const scheduling = objectOrNone(made, 'scheduling')
  return [
    ...checkMeta(made, { namespaced: false }),
    ...(handler === '' ? [fieldRequired('handler')] : checkText(handler, checkDnsLabel, 'handler')),
    ...(overhead === undefined ? [] : checkResources({ limits: objectAt(overhead, 'podFixed') }, 'overhead.podFixed')),
    ...(scheduling === undefined ? [] : checkScheduling(scheduling, 'scheduling')),
  ]
}

function checkScheduling(scheduling: ValueObject, path: string): FieldError[] {
  const tolerations = objectsAt(scheduling, 'tolerations')
  const tolerationsPath = childPath(path, 'tolerations')
  return [
    ...checkLabels(mapAt(scheduling, 'nodeSelector'), childPath(path, 'nodeSelector')),
    ...checkTolerations(scheduling, tolerationsPath),
    ...tolerations.flatMap((toleration, i) =>
      tolerations.slice(0, i).some(before => equalValues(before, toleration))
        ? [fieldDuplicate(indexPath(tolerationsPath, i), asStruct(toleration))]
        : [],
    ),
  ]
}

export const runtimeClassValidation: Validation = {
  create: checkRuntime,
  update: (made, old) => [
    ...checkRuntime(made),
    ...checkMetaUpdate(made, old),
    ...checkImmutable(made, old, 'handler'),
  ],
}
