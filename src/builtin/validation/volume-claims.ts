// Claims for volumes: what kind of storage, how much of it, and where its content comes from.
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { has, objectAt, objectOrNone, stringAt, stringsAt } from '../../meta/values/access.js'
import { compareQuantities, printQuantity, signOf } from '../../meta/values/quantity.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { amountOf, checkNotNegativeAmount } from '../core/pod/container-resources.js'
import { diffSpecs } from '../core/pod/spec-diff.js'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const VOLUME_MODES = ['Block', 'Filesystem']

const checkClaim = (claim: ValueObject): FieldError[] => [
  ...checkMeta(claim, { namespaced: true }),
  ...checkClaimSpec(objectAt(claim, 'spec'), 'spec'),
]

export const volumeClaimValidation: Validation = {
  create: checkClaim,
  update: (claim, old) => [...checkClaim(claim), ...checkMetaUpdate(claim, old), ...checkClaimChange(claim, old)],
  status: (claim, old) => [
    ...checkMetaUpdate(claim, old),
    ...(stringsAt(objectAt(claim, 'spec'), 'accessModes').length === 0 ? [fieldRequired('Spec.accessModes')] : []),
    ...checkAmounts(objectAt(claim, 'status'), 'capacity', 'status.capacity'),
  ],
}

/** The spec of a claim, which also stands in the volumes of pods. */
export function checkClaimSpec(spec: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => `${path}.${field}`
  const selector = objectOrNone(spec, 'selector')
  return [
    ...(stringsAt(spec, 'accessModes').length === 0
      ? [fieldRequired(at('accessModes'), 'at least 1 access mode is required')]
      : []),
    ...(selector === undefined ? [] : checkLabelSelector(selector, at('selector'))),
    ...checkAccessModes(stringsAt(spec, 'accessModes'), at('accessModes')),
    ...checkRequest(spec, keyPath(at('resources'), 'storage')),
    ...checkClassName(spec, 'storageClassName', at('storageClassName')),
    ...(has(spec, 'volumeMode') ? checkOneOf(stringAt(spec, 'volumeMode'), VOLUME_MODES, at('volumeMode')) : []),
    ...checkSource(spec, 'dataSource', path),
    ...checkSource(spec, 'dataSourceRef', path),
    ...checkSameSource(spec, path),
    ...checkClassName(spec, 'volumeAttributesClassName', at('volumeAttributesClassName')),
  ]
}

/** Those that there are; one that is for a single pod stands alone. */
export function checkAccessModes(modes: readonly string[], path: string): FieldError[] {
  const isMixed = modes.includes('ReadWriteOncePod') && modes.some(mode => mode !== 'ReadWriteOncePod')
  return [
    ...modes.filter(mode => !ACCESS_MODES.includes(mode)).map(mode => fieldNotSupported(path, mode, ACCESS_MODES)),
    ...(isMixed ? [fieldForbidden(path, 'may not use ReadWriteOncePod with other access modes')] : []),
  ]
}

const requestOf = (spec: ValueObject): ValueObject => objectAt(objectAt(spec, 'resources'), 'requests')

function checkRequest(spec: ValueObject, path: string): FieldError[] {
  const amount = amountOf(requestOf(spec), 'storage')
  if (amount === undefined) return [fieldRequired(path)]
  return signOf(amount) > 0 ? [] : [fieldInvalid(path, printQuantity(amount), 'must be greater than zero')]
}

export const checkClassName = (spec: ValueObject, field: string, path: string): FieldError[] =>
  stringAt(spec, field) === '' ? [] : checkText(stringAt(spec, field), checkDnsSubdomain, path)

/** Only claims need no group to be found by. */
function checkSource(spec: ValueObject, field: string, path: string): FieldError[] {
  const source = objectOrNone(spec, field)
  if (source === undefined) return []
  const at = `${path}.${field}`
  const [group, kind] = [stringAt(source, 'apiGroup'), stringAt(source, 'kind')]
  return [
    ...['name', 'kind'].filter(each => stringAt(source, each) === '').map(each => fieldRequired(`${at}.${each}`)),
    ...(group === '' && kind !== 'PersistentVolumeClaim' ? [fieldInvalid(at, kind, '')] : []),
    ...(group === '' ? [] : checkText(group, checkDnsSubdomain, `${at}.apiGroup`)),
  ]
}

function checkSameSource(spec: ValueObject, path: string): FieldError[] {
  const source = objectOrNone(spec, 'dataSource')
  const ref = objectOrNone(spec, 'dataSourceRef')
  if (source === undefined || ref === undefined) return []
  const isSame = ['apiGroup', 'kind', 'name'].every(field => stringAt(source, field) === stringAt(ref, field))
  return isSame ? [] : [fieldInvalid(path, `${path}.dataSource`, 'must match dataSourceRef')]
}

const checkAmounts = (object: ValueObject, field: string, path: string): FieldError[] => {
  const amounts = objectAt(object, field)
  return Object.keys(amounts).flatMap(name => checkNotNegativeAmount(amounts, name, keyPath(path, name)))
}

// ---- changes

const MAY_CHANGE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n'

function checkClaimChange(claim: ValueObject, old: ValueObject): FieldError[] {
  const [spec, before] = [objectAt(claim, 'spec'), objectAt(old, 'spec')]
  const fixed = withAllowedChanges(spec, before, stringAt(objectAt(claim, 'status'), 'phase') === 'Bound')
  return [
    ...(equalValues(fixed, before)
      ? []
      : [fieldForbidden('spec', MAY_CHANGE + diffSpecs('core/v1.PersistentVolumeClaimSpec', before, fixed))]),
    ...checkShrinking(spec, before, objectAt(objectAt(old, 'status'), 'capacity')),
    ...checkImmutable(spec, before, 'volumeMode', 'volumeMode'),
    ...checkAttributesChange(spec, before),
  ]
}

/** The spec with what may change as it was. */
function withAllowedChanges(spec: ValueObject, before: ValueObject, isBound: boolean): ValueObject {
  const fixed: ValueObject = { ...spec }
  const asBefore = (field: string): void => {
    const value = getOwn(before, field)
    if (value === undefined) delete fixed[field]
    else fixed[field] = value
  }
  // Binding and a default class come later than the claim.
  if (stringAt(before, 'volumeName') === '') asBefore('volumeName')
  if (!has(before, 'storageClassName')) asBefore('storageClassName')
  if (!isBound) return fixed
  asBefore('volumeAttributesClassName')
  const [now, then] = [requestOf(spec), requestOf(before)]
  if (has(now, 'storage') && has(then, 'storage')) {
    fixed['resources'] = { ...objectAt(spec, 'resources'), requests: { ...now, storage: then['storage']! } }
  }
  return fixed
}

/** What asked for too much may ask for less, but not for less than there is. */
function checkShrinking(spec: ValueObject, before: ValueObject, capacity: ValueObject): FieldError[] {
  const [now, then] = [amountOf(requestOf(spec), 'storage'), amountOf(requestOf(before), 'storage')]
  if (now === undefined || then === undefined || compareQuantities(now, then) >= 0) return []
  const given = amountOf(capacity, 'storage')
  return given === undefined || compareQuantities(now, given) <= 0
    ? [fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : []
}

function checkAttributesChange(spec: ValueObject, before: ValueObject): FieldError[] {
  const field = 'volumeAttributesClassName'
  if (!has(before, field)) return []
  if (!has(spec, field)) return [fieldForbidden(`spec.${field}`, 'update from non-nil value to nil is forbidden')]
  return stringAt(spec, field) === '' && stringAt(before, field) !== ''
    ? [fieldForbidden(`spec.${field}`, 'update from non-nil value to an empty string is forbidden')]
    : []
}
