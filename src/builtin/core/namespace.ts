// Namespace.
import { asTypedText, type FieldError, fieldInvalid, keyPath } from '../../meta/errors/field-errors.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { checkDnsLabel, checkQualifiedName } from '../../meta/object/names.js'
import {
  ensureObject,
  has,
  keepFrom,
  mapAt,
  objectAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { checkFinalizerDomain, metadata, metadataUpdate } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { selectableFields, stringField } from '../common/selectable-fields.js'
import { type BuiltinStrategy, inTurn, keepGeneration, keepSpec, keepStatus } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

/** The label by which selectors find a namespace by its name. */
const NAME_LABEL = 'kubernetes.io/metadata.name'

function setNameLabel(namespace: ValueObject): void {
  const meta = ensureObject(namespace, 'metadata')
  const name = stringAt(meta, 'name')
  if (name !== '') ensureObject(meta, 'labels')[NAME_LABEL] = name
}

// ---- strategy

const strategy: BuiltinStrategy = {
  prepareForCreate: namespace => {
    const spec = ensureObject(namespace, 'spec')
    const finalizers = stringsAt(spec, 'finalizers')
    if (!finalizers.includes('kubernetes')) spec['finalizers'] = [...finalizers, 'kubernetes']
    namespace['status'] = { phase: 'Active' }
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus, (namespace, old) =>
    keepFrom(ensureObject(namespace, 'spec'), objectAt(old, 'spec'), 'finalizers'),
  ),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
  // Changes the finalizers of the spec, and nothing of the status.
  prepareForSubresourceUpdate: { finalize: inTurn(keepGeneration, keepStatus) },
  finish: setNameLabel,
  returnsDeletedObject: true,
  hasTerminatingPhase: true,
  blocksDeletion: namespace => stringsAt(objectAt(namespace, 'spec'), 'finalizers').length > 0,
  prepareForDelete: terminating,
}

function terminating(namespace: ApiObject): ApiObject {
  return { ...namespace, status: { ...objectAt(namespace, 'status'), phase: 'Terminating' } }
}

// ---- validation

/** Errors name the whole list. */
const finalizers = check(namespace =>
  stringsAt(objectAt(namespace, 'spec'), 'finalizers').flatMap(finalizer =>
    [
      checkText(finalizer, checkQualifiedName, 'spec.finalizers'),
      checkFinalizerDomain(finalizer, 'spec.finalizers'),
    ].flat(),
  ),
)

const POD_SECURITY_LEVELS = ['privileged', 'baseline', 'restricted']

/** The Pod Security levels that labels of a namespace may name. */
const podSecurityLabels = check(namespace => {
  const labels = mapAt(objectAt(namespace, 'metadata'), 'labels')
  return ['enforce', 'audit', 'warn'].flatMap(mode => {
    const key = `pod-security.kubernetes.io/${mode}`
    const level = Object.hasOwn(labels, key) ? labels[key]! : undefined
    if (level === undefined || POD_SECURITY_LEVELS.includes(level)) return []
    const why = `must be one of ${POD_SECURITY_LEVELS.join(', ')}`
    return [fieldInvalid(keyPath('metadata.labels', key), level, why)]
  })
})

function checkPhase(namespace: ValueObject): FieldError[] {
  const isDeleted = has(objectAt(namespace, 'metadata'), 'deletionTimestamp')
  const phase = stringAt(objectAt(namespace, 'status'), 'phase')
  const invalid = (why: string): FieldError[] => [fieldInvalid('status.Phase', asTypedText(phase), why)]
  if (isDeleted && phase !== 'Terminating') {
    return invalid("may only be 'Terminating' if `deletionTimestamp` is not empty")
  }
  if (!isDeleted && phase !== 'Active') return invalid("may only be 'Active' if `deletionTimestamp` is empty")
  return []
}

const rules = [metadata({ namespaced: false, name: checkDnsLabel }), podSecurityLabels, finalizers]

export const namespace = defineKind('v1', 'Namespace', {
  defaults: object => {
    setNameLabel(object)
    setDefault(ensureObject(object, 'status'), 'phase', 'Active')
  },
  strategy,
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate],
    status: [metadataUpdate, check(checkPhase)],
    parts: { finalize: [metadataUpdate, finalizers] },
  }),
  table: (object, now) => [nameOf(object), stringAt(objectAt(object, 'status'), 'phase'), ageOf(object, now)],
  selectableFields: selectableFields({ 'status.phase': stringField('status', 'phase') }, { namespaced: false }),
})
