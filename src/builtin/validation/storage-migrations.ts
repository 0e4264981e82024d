// A StorageVersionMigration says once and for all what is to be migrated, and its status only ever moves on.
import { asStruct, type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { checkConditions, isConditionTrue } from '../common/conditions.js'
import { checkNotNegative } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

const resourceOf = (migration: ValueObject): ValueObject => objectAt(objectAt(migration, 'spec'), 'resource')

const check = (migration: ValueObject): FieldError[] => [
  ...checkMeta(migration, { namespaced: false }),
  ...(stringAt(resourceOf(migration), 'resource') === ''
    ? [fieldRequired('spec.resource.resource', 'resource is required')]
    : []),
]

/** Told as if the members of the resource stood at the top. */
const checkSame = (migration: ValueObject, old: ValueObject, field: string): FieldError[] => {
  const given = stringAt(resourceOf(migration), field)
  return given === stringAt(resourceOf(old), field) ? [] : [fieldInvalid(field, given, 'field is immutable')]
}

function checkStatus(migration: ValueObject, old: ValueObject): FieldError[] {
  const status = objectAt(migration, 'status')
  const before = objectAt(old, 'status')
  const conditions = objectsAt(status, 'conditions')
  const is = (type: string): boolean => isConditionTrue(conditions, type)
  const was = (type: string): boolean => isConditionTrue(objectsAt(before, 'conditions'), type)
  const refuse = (isWrong: boolean, why: string): FieldError[] =>
    isWrong ? [fieldInvalid('status.conditions', asStruct([...conditions] as Value), why)] : []
  return [
    ...checkMetaUpdate(migration, old),
    ...checkResourceVersion(stringAt(status, 'resourceVersion'), stringAt(before, 'resourceVersion')),
    ...checkConditions(conditions, 'status.conditions'),
    ...refuse(is('Succeeded') && is('Failed'), 'Both success and failed conditions cannot be true at the same time'),
    ...refuse(is('Succeeded') && is('Running'), 'Running condition cannot be true when success condition is true'),
    ...refuse(is('Failed') && is('Running'), 'Running condition cannot be true when failed condition is true'),
    ...refuse(was('Succeeded') && !is('Succeeded'), 'Success condition cannot be set to false once it is true'),
    ...refuse(was('Failed') && !is('Failed'), 'Failed condition cannot be set to false once it is true'),
  ]
}

function checkResourceVersion(version: string, old: string): FieldError[] {
  const path = 'status.resourceVersion'
  const isNumber = version === '' || /^[+-]?[0-9]+$/u.test(version)
  return [
    ...(isNumber
      ? checkNotNegative(Number(version), path)
      : [fieldInvalid(path, version, `resource version is not well formed: ${version}`)]),
    ...(old !== '' && old !== version ? [fieldInvalid(path, version, 'field is immutable')] : []),
  ]
}

export const storageMigrationValidation: Validation = {
  create: check,
  update: (migration, old) => [
    ...check(migration),
    ...checkMetaUpdate(migration, old),
    ...checkSame(migration, old, 'group'),
    ...checkSame(migration, old, 'resource'),
  ],
  status: checkStatus,
}
