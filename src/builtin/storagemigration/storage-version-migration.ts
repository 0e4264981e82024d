// StorageVersionMigration: asks for all objects of a resource to be written again in the storage version. The resource cannot
// be changed, and a condition that says that the migration has ended stays true.
import { asStruct, type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { checkConditions, isConditionTrue } from '../common/conditions.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, type Rule } from '../common/rules.js'
import { statusAlone } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'

const resourceOf = (migration: ValueObject): ValueObject => objectAt(objectAt(migration, 'spec'), 'resource')

const rules = [
  metadata({ namespaced: false }),
  check(migration =>
    stringAt(resourceOf(migration), 'resource') === ''
      ? [fieldRequired('spec.resource.resource', 'resource is required')]
      : [],
  ),
]

/** The path in the message is the name of the field alone, as kube-apiserver has it. */
const immutableInResource = (field: string): Rule =>
  checkUpdate((migration, old) => {
    const given = stringAt(resourceOf(migration), field)
    return given === stringAt(resourceOf(old), field) ? [] : [fieldInvalid(field, given, 'field is immutable')]
  })

function checkStatus(migration: ValueObject, old: ValueObject): FieldError[] {
  const status = objectAt(migration, 'status')
  const before = objectAt(old, 'status')
  const conditions = objectsAt(status, 'conditions')
  const is = (type: string): boolean => isConditionTrue(conditions, type)
  const was = (type: string): boolean => isConditionTrue(objectsAt(before, 'conditions'), type)
  const refuse = (isWrong: boolean, why: string): FieldError[] =>
    isWrong ? [fieldInvalid('status.conditions', asStruct([...conditions] as Value), why)] : []
  return [
    ...checkResourceVersion(stringAt(status, 'resourceVersion'), stringAt(before, 'resourceVersion')),
    ...checkConditions(conditions, 'status.conditions'),
    ...refuse(is('Succeeded') && is('Failed'), 'Both success and failed conditions cannot be true at the same time'),
    ...refuse(was('Succeeded') && !is('Succeeded'), 'Success condition cannot be set to false once it is true'),
    ...refuse(was('Failed') && !is('Failed'), 'Failed condition cannot be set to false once it is true'),
  ]
}

function checkResourceVersion(version: string, old: string): FieldError[] {
  const path = 'status.resourceVersion'
  const isWellFormed = version === '' || /^[1-9][0-9]*$/u.test(version)
  return [
    ...(isWellFormed ? [] : [fieldInvalid(path, version, `resource version is not well formed: ${version}`)]),
    ...(old !== '' && old !== version ? [fieldInvalid(path, version, 'field is immutable')] : []),
  ]
}

export const storageVersionMigration = defineKind('storagemigration.k8s.io/v1beta1', 'StorageVersionMigration', {
  strategy: statusApart('storagemigration.k8s.io/v1beta1', 'StorageVersionMigration', {
    prepareForStatusUpdate: statusAlone,
    allowUnconditionalUpdate: false,
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate, immutableInResource('group'), immutableInResource('resource')],
    status: [metadataUpdate, checkUpdate(checkStatus)],
  }),
})
