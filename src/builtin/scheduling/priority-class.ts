// PriorityClass: a name for a priority of pods.
import { fieldForbidden } from '../../meta/errors/field-errors.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt, setDefault, stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, immutable, oneOf } from '../common/rules.js'
import { keepGeneration, startGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { findSystemClass, SYSTEM_PRIORITY_PREFIX } from './system-priority-classes.js'

/** Only the classes of the system are above. */
const HIGHEST_PRIORITY = 1_000_000_000
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never']

/** The classes of the system may be written, but not otherwise than they are. */
function systemClassError(name: string, value: number, isDefault: boolean): string | undefined {
  const known = findSystemClass(name)
  if (known === undefined) return `${name} is not a known system priority class`
  if (known.value !== value) return `value of ${name} PriorityClass must be ${known.value}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

const nameAndValue = check(priorityClass => {
  const { name = '' } = metaOf(priorityClass)
  const value = numberAt(priorityClass, 'value')
  if (!name.startsWith(SYSTEM_PRIORITY_PREFIX)) {
    const why = `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`
    return value > HIGHEST_PRIORITY ? [fieldForbidden('value', why)] : []
  }
  const error = systemClassError(name, value, priorityClass['globalDefault'] === true)
  const reserved = `priority class names with '${SYSTEM_PRIORITY_PREFIX}' prefix are reserved for system use only. error: `
  return error === undefined ? [] : [fieldForbidden('metadata.name', reserved + error)]
})

const sameValue = checkUpdate((priorityClass, old) =>
  numberAt(priorityClass, 'value') === numberAt(old, 'value')
    ? []
    : [fieldForbidden('value', 'may not be changed in an update.')],
)

export const priorityClass = defineKind('scheduling.k8s.io/v1', 'PriorityClass', {
  defaults: object => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority', false),
  strategy: { prepareForCreate: startGeneration, prepareForUpdate: keepGeneration },
  validation: validationRules({
    create: [
      metadata({ namespaced: false }),
      nameAndValue,
      oneOf('preemptionPolicy', PREEMPTION_POLICIES, { required: true }),
    ],
    update: [metadataUpdate, sameValue, immutable('preemptionPolicy', { typed: true })],
  }),
  table: (object, now) => [
    nameOf(object),
    numberAt(object, 'value'),
    object['globalDefault'] === true,
    ageOf(object, now),
    stringAt(object, 'preemptionPolicy'),
  ],
})
