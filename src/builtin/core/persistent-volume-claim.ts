// PersistentVolumeClaim: a request for storage.
import {
  asString,
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import {
  ensureObject,
  has,
  mapAt,
  objectAt,
  objectOrNone,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { compareQuantities, printQuantity, type Quantity, quantityOf, signOf } from '../../meta/values/quantity.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkImmutable, checkText } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, field, format, ifSet, oneOf, optional, type Rule, run } from '../common/rules.js'
import { type BuiltinStrategy, inTurn, keepGeneration, keepSpec, keepStatus } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { amountOf, checkBasicAmount, checkNotNegativeAmount, isInteger } from './pod/containers/container-resources.js'
import { diffSpecs } from './pod/spec/spec-diff.js'
import { classOf, isBeingDeleted, printAccessModes, stringOrUnset } from './volume-cells.js'

/** The annotation that was the class of a volume or claim before the field. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

// ---- defaults and strategy

/** Defaults of a claim, by itself or as a template in a stateful set. */
export function defaultVolumeClaim(claim: ValueObject): void {
  setDefault(ensureObject(claim, 'status'), 'phase', 'Pending')
  setDefault(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem', false)
}

const strategy: BuiltinStrategy = {
  prepareForCreate: claim => {
    claim['status'] = { phase: 'Pending' }
    syncDataSources(claim, {})
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus, syncDataSources),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
  returnsDeletedObject: true,
}

/**
 * `dataSource` and the newer `dataSourceRef` name the same source: a client may write either. `dataSource` knows few
 * kinds; any other is dropped from it.
 */
function syncDataSources(claim: ValueObject, old: ValueObject): void {
  const spec = ensureObject(claim, 'spec')
  const before = objectAt(old, 'spec')
  const hadSource = has(before, 'dataSource') || has(before, 'dataSourceRef')
  // Sources in other namespaces are behind a feature gate that is off.
  const isElsewhere = stringAt(objectAt(spec, 'dataSourceRef'), 'namespace') !== ''
  if (isElsewhere && !has(before, 'dataSourceRef')) delete spec['dataSourceRef']
  const source = objectOrNone(spec, 'dataSource')
  const isOld = source !== undefined && !hadSource && !has(spec, 'dataSourceRef')
  if (isOld && !isClaimOrSnapshot(source)) delete spec['dataSource']
  fillDataSources(spec)
}

/** Each of both, if only the other is there. */
export function fillDataSources(spec: ValueObject): void {
  if (stringAt(objectAt(spec, 'dataSourceRef'), 'namespace') !== '') return
  copyIfMissing(spec, 'dataSourceRef', 'dataSource')
  copyIfMissing(spec, 'dataSource', 'dataSourceRef')
}

function copyIfMissing(spec: ValueObject, to: string, from: string): void {
  const found = objectOrNone(spec, from)
  if (found === undefined || has(spec, to)) return
  spec[to] = {
    apiGroup: found['apiGroup'] ?? null,
    kind: stringAt(found, 'kind'),
    name: stringAt(found, 'name'),
  }
}

function isClaimOrSnapshot(source: ValueObject): boolean {
  const [group, kind] = [stringAt(source, 'apiGroup'), stringAt(source, 'kind')]
  if (group === '') return kind === 'PersistentVolumeClaim'
  return group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
}

// ---- validation of the spec, which also stands in pods and stateful sets

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const VOLUME_MODES = ['Block', 'Filesystem']

/** Supported modes; ReadWriteOncePod stands alone. */
export const accessModes = check((spec, path) => {
  const modes = stringsAt(spec, 'accessModes')
  const at = childPath(path, 'accessModes')
  const isMixed = modes.includes('ReadWriteOncePod') && modes.some(mode => mode !== 'ReadWriteOncePod')
  return [
    ...modes.filter(mode => !ACCESS_MODES.includes(mode)).map(mode => fieldNotSupported(at, mode, ACCESS_MODES)),
    ...(isMixed ? [fieldForbidden(at, 'may not use ReadWriteOncePod with other access modes')] : []),
  ]
})

const requestsOf = (spec: ValueObject): ValueObject => objectAt(objectAt(spec, 'resources'), 'requests')

const storageRequest = check((spec, path) => {
  const at = keyPath(childPath(path, 'resources'), 'storage')
  const amount = amountOf(requestsOf(spec), 'storage')
  if (amount === undefined) return [fieldRequired(at)]
  return signOf(amount) > 0 ? [] : [fieldInvalid(at, printQuantity(amount), 'must be greater than zero')]
})

/** Only claims are found without a group. */
const dataSource = (name: string): Rule =>
  optional(name, [
    check((source, path) => {
      const [group, kind] = [stringAt(source, 'apiGroup'), stringAt(source, 'kind')]
      return [
        ...['name', 'kind'].filter(each => stringAt(source, each) === '').map(each => fieldRequired(`${path}.${each}`)),
        ...(group === '' && kind !== 'PersistentVolumeClaim'
          ? [fieldInvalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
          : []),
      ]
    }),
    format('apiGroup', checkDnsSubdomain),
  ])

/** A source in another namespace, which is allowed only where there was a source before. */
const sourceElsewhere = check((spec, path) => {
  const namespace = stringAt(objectAt(spec, 'dataSourceRef'), 'namespace')
  if (namespace === '') return []
  const why = 'may not be specified when dataSourceRef.namespace is specified'
  return [
    ...checkText(namespace, checkDnsLabel, `${path}.dataSourceRef.namespace`),
    ...(has(spec, 'dataSource') ? [fieldInvalid(path, asStruct({}), why)] : []),
  ]
})

const sameDataSource = check((spec, path) => {
  const source = objectOrNone(spec, 'dataSource')
  const ref = objectOrNone(spec, 'dataSourceRef')
  if (source === undefined || ref === undefined || stringAt(ref, 'namespace') !== '') return []
  const isSame = ['apiGroup', 'kind', 'name'].every(each => stringAt(source, each) === stringAt(ref, each))
  return isSame ? [] : [fieldInvalid(path, asStruct({}), 'must match dataSourceRef')]
})

const claimSpecRules: readonly Rule[] = [
  check((spec, path) =>
    stringsAt(spec, 'accessModes').length === 0
      ? [fieldRequired(childPath(path, 'accessModes'), 'at least 1 access mode is required')]
      : [],
  ),
  optional('selector', [check((selector, path) => checkLabelSelector(selector, path))]),
  accessModes,
  storageRequest,
  format('storageClassName', checkDnsSubdomain),
  ifSet('volumeMode', [oneOf('volumeMode', VOLUME_MODES)]),
  dataSource('dataSource'),
  dataSource('dataSourceRef'),
  sourceElsewhere,
  sameDataSource,
  format('volumeAttributesClassName', checkDnsSubdomain),
]

export const checkClaimSpec = (spec: ValueObject, path: string): FieldError[] =>
  run(claimSpecRules, spec, undefined, path)

// ---- validation of changes

const WHAT_MAY_CHANGE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n'

function checkChange(claim: ValueObject, old: ValueObject): FieldError[] {
  const [spec, oldSpec] = [objectAt(claim, 'spec'), objectAt(old, 'spec')]
  const compared = withoutAllowedChanges(spec, oldSpec, stringAt(objectAt(claim, 'status'), 'phase') === 'Bound')
  // The first binding may change it.
  const before = stringAt(oldSpec, 'volumeName') === '' ? withValue(oldSpec, 'volumeName', spec) : oldSpec
  return [
    ...(equalValues(compared, before)
      ? []
      : [fieldForbidden('spec', WHAT_MAY_CHANGE + diffSpecs('core/v1.PersistentVolumeClaimSpec', before, compared))]),
    ...checkShrinking(spec, oldSpec, objectAt(objectAt(old, 'status'), 'capacity')),
    ...checkImmutable(spec, oldSpec, 'volumeMode', 'volumeMode'),
    ...checkAttributesClassChange(spec, oldSpec, objectAt(old, 'status')),
  ]
}

/** The new spec, with the old value of each field that may change. */
function withoutAllowedChanges(spec: ValueObject, before: ValueObject, isBound: boolean): ValueObject {
  // The default class is set later.
  const compared = has(before, 'storageClassName') ? spec : withValue(spec, 'storageClassName', before)
  if (!isBound) return compared
  const bound = withValue(compared, 'volumeAttributesClassName', before)
  const [now, then] = [requestsOf(spec), requestsOf(before)]
  if (has(now, 'storage') && has(then, 'storage')) {
    bound['resources'] = { ...objectAt(spec, 'resources'), requests: { ...now, storage: then['storage']! } }
  }
  return bound
}

/** A copy with the value that a field has in another spec. */
function withValue(spec: ValueObject, name: string, other: ValueObject): ValueObject {
  const { [name]: _, ...rest } = spec
  const value = getOwn(other, name)
  return value === undefined ? rest : { ...rest, [name]: value }
}

/** A request may shrink after an expansion that failed, but not to the capacity or below. */
function checkShrinking(spec: ValueObject, before: ValueObject, capacity: ValueObject): FieldError[] {
  const storageOf = (amounts: ValueObject): Quantity => amountOf(amounts, 'storage') ?? quantityOf(0n)
  const [now, given] = [storageOf(requestsOf(spec)), storageOf(capacity)]
  if (compareQuantities(now, storageOf(requestsOf(before))) >= 0) return []
  return compareQuantities(now, given) <= 0
    ? [fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : []
}

/** A volume that has a class cannot lose it. */
function checkAttributesClassChange(spec: ValueObject, before: ValueObject, status: ValueObject): FieldError[] {
  const name = 'volumeAttributesClassName'
  if (equalValues(spec[name] ?? null, before[name] ?? null)) return []
  if (!has(status, 'currentVolumeAttributesClassName') || stringAt(spec, name) !== '') return []
  const to = has(spec, name) ? 'empty string' : 'nil'
  const why = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`
  return [fieldForbidden(`spec.${name}`, why)]
}

const statusRules: readonly Rule[] = [
  check(claim =>
    stringsAt(objectAt(claim, 'spec'), 'accessModes').length === 0 ? [fieldRequired('Spec.accessModes')] : [],
  ),
  check(claim => {
    const capacity = objectAt(objectAt(claim, 'status'), 'capacity')
    return Object.keys(capacity).flatMap(name => checkBasicAmount(capacity, name, keyPath('status.capacity', name)))
  }),
  check(claim => checkResizing(objectAt(claim, 'status'))),
]

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

/** Only storage is resized, and resources with a domain. */
const checkResizedName = (name: string, path: string): FieldError[] => {
  const errors = checkText(name, checkQualifiedName, path)
  const isNative = !name.includes('/') || name.includes('kubernetes.io/')
  const isKnown = errors.length > 0 || !isNative || name === 'storage'
  return isKnown ? errors : [fieldNotSupported(path, asString(name), ['storage'])]
}

function checkResizing(status: ValueObject): FieldError[] {
  const [statuses, amounts] = [mapAt(status, 'allocatedResourceStatuses'), objectAt(status, 'allocatedResources')]
  const path = 'status.allocatedResourceStatuses'
  return [
    ...Object.keys(statuses).flatMap(name => {
      const errors = checkResizedName(name, path)
      // kube-apiserver's error shows the name of the resource, not its status.
      if (!RESIZE_STATUSES.includes(statuses[name]!)) errors.push(fieldNotSupported(path, name, RESIZE_STATUSES))
      return errors
    }),
    ...Object.keys(amounts).flatMap(name => {
      const errors = checkResizedName(name, 'status.allocatedResources')
      if (errors.length > 0) return errors
      return checkNotNegativeAmount(amounts, name, keyPath('status.allocatedResources', name))
    }),
  ]
}

// ---- warnings

export const claimSpecWarnings = (spec: ValueObject, path: string): string[] =>
  ['requests', 'limits'].flatMap(list => {
    const amount = amountOf(objectAt(objectAt(spec, 'resources'), list), 'storage')
    if (amount === undefined || isInteger(amount)) return []
    const at = keyPath(`${path}.resources.${list}`, 'storage')
    return [`${at}: fractional byte value ${quote(printQuantity(amount))} is invalid, must be an integer`]
  })

const classWarnings = (claim: ValueObject): string[] =>
  has(objectAt(objectAt(claim, 'metadata'), 'annotations'), CLASS_ANNOTATION)
    ? [
        `${keyPath('metadata.annotations', CLASS_ANNOTATION)}: deprecated since v1.8; use "storageClassName" attribute instead`,
      ]
    : []

// ---- Table

const row: TableRow = (claim, now) => {
  const spec = objectAt(claim, 'spec')
  const status = objectAt(claim, 'status')
  const volume = stringAt(spec, 'volumeName')
  const isBound = volume !== ''
  return [
    nameOf(claim),
    isBeingDeleted(claim) ? 'Terminating' : stringAt(status, 'phase'),
    volume,
    isBound ? stringAt(objectAt(status, 'capacity'), 'storage') || '0' : '',
    isBound ? printAccessModes(stringsAt(status, 'accessModes')) : '',
    classOf(claim),
    stringOrUnset(spec, 'volumeAttributesClassName'),
    ageOf(claim, now),
    stringOrUnset(spec, 'volumeMode'),
  ]
}

const rules: readonly Rule[] = [metadata({ namespaced: true }), field('spec', claimSpecRules)]

export const persistentVolumeClaim = defineKind('v1', 'PersistentVolumeClaim', {
  defaults: defaultVolumeClaim,
  strategy,
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate, checkUpdate(checkChange)],
    status: [metadataUpdate, ...statusRules],
  }),
  warnings: claim => [...classWarnings(claim), ...claimSpecWarnings(objectAt(claim, 'spec'), 'spec')],
  table: row,
})
