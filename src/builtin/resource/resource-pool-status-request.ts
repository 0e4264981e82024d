// ResourcePoolStatusRequest: a question about the pools of a driver, which a controller answers once in the status.
import {
  asStruct,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkDnsSubdomainAnyCase } from '../../meta/object/names.js'
import { ageCell } from '../../meta/table.js'
import { has, numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { checkConditions } from '../common/conditions.js'
import { defineKind } from '../common/define-kind.js'
import { checkAtLeast, checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, field, type Rule } from '../common/rules.js'
import { same, statusAlone } from '../common/strategies.js'
import { NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const API_VERSION = 'resource.k8s.io/v1alpha3'
const KIND = 'ResourcePoolStatusRequest'
const MAX_POOLS = 1000
const MAX_NAME = 253
const MAX_ERROR = 256
const MAX_CONDITIONS = 10

const driver: Rule = check((object, path) => {
  const name = stringAt(object, 'driver')
  const at = `${path}.driver`
  return name === '' ? [fieldRequired(at)] : checkText(name, checkDnsSubdomainAnyCase, at)
})

/** One or more DNS subdomains, separated by slashes. */
function checkPool(name: string, path: string): FieldError[] {
  const tooLong = Buffer.byteLength(name) > MAX_NAME ? [fieldTooLong(path, MAX_NAME)] : []
  const segments = name.split('/').flatMap((part, i) => {
    if (part === '') return [fieldInvalid(path, name, `segment ${i}: must not be empty`)]
    return checkText(part, text => checkDnsSubdomain(text).map(why => `segment ${i}: ${why}`), path)
  })
  return [...tooLong, ...segments]
}

const specRules: readonly Rule[] = [
  driver,
  check((spec, path) => (has(spec, 'poolName') ? checkPool(stringAt(spec, 'poolName'), `${path}.poolName`) : [])),
  check((spec, path) => {
    const limit = numberAt(spec, 'limit')
    if (!has(spec, 'limit')) return [fieldRequired(`${path}.limit`)]
    if (limit <= MAX_POOLS) return checkAtLeast(limit, 1, `${path}.limit`)
    return [fieldInvalid(`${path}.limit`, limit, `must be less than or equal to ${MAX_POOLS}`)]
  }),
]

const immutableSpec = checkUpdate((request, old) =>
  same(request, old, 'spec') ? [] : [fieldInvalid('spec', null, 'field is immutable')],
)

// ---- status

const COUNTS = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices']

function checkPoolStatus(pool: ValueObject, path: string): FieldError[] {
  const atLeast = (name: string, min: number): FieldError[] =>
    has(pool, name) ? checkAtLeast(numberAt(pool, name), min, `${path}.${name}`) : []
  const name = stringAt(pool, 'poolName')
  const errors: FieldError[] = []
  driver(pool, undefined, path, errors)
  return [
    ...errors,
    ...(name === '' ? [fieldRequired(`${path}.poolName`)] : checkPool(name, `${path}.poolName`)),
    ...atLeast('generation', 0),
    ...atLeast('resourceSliceCount', 1),
    ...COUNTS.flatMap(count => atLeast(count, 0)),
    ...(has(pool, 'nodeName') ? checkText(stringAt(pool, 'nodeName'), checkDnsSubdomain, `${path}.nodeName`) : []),
    ...(Buffer.byteLength(stringAt(pool, 'validationError')) > MAX_ERROR
      ? [fieldTooLong(`${path}.validationError`, MAX_ERROR)]
      : []),
  ]
}

function checkNewStatus(status: ValueObject): FieldError[] {
  const conditions = objectsAt(status, 'conditions')
  const pools = objectsAt(status, 'pools')
  const types = conditions.map(condition => stringAt(condition, 'type'))
  return [
    ...checkConditions(conditions, 'status.conditions'),
    ...(has(status, 'poolCount')
      ? checkAtLeast(numberAt(status, 'poolCount'), 0, 'status.poolCount')
      : [fieldRequired('status.poolCount')]),
    ...(pools.length > MAX_POOLS
      ? [fieldTooMany('status.pools', pools.length, MAX_POOLS)]
      : pools.flatMap((pool, i) => checkPoolStatus(pool, indexPath('status.pools', i)))),
    ...(conditions.length > MAX_CONDITIONS
      ? [fieldTooMany('status.conditions', conditions.length, MAX_CONDITIONS)]
      : [...repeatsOf(types)].map(i => fieldDuplicate(indexPath('status.conditions', i), asStruct(conditions[i]!)))),
  ]
}

const statusRules = checkUpdate((request, old) => {
  const [status, before] = [objectOrNone(request, 'status'), objectOrNone(old, 'status')]
  if (before === undefined) return status === undefined ? [] : checkNewStatus(status)
  if (status !== undefined && equalValues(status, before)) return []
  const shown = status === undefined ? null : asGoStruct(`resource/v1alpha3.${KIND}Status`, status)
  return [fieldInvalid('status', shown, 'field is immutable')]
})

// ---- Table

const UNKNOWN_COUNT = '-'

const row: TableRow = (request, now) => {
  const status = objectOrNone(request, 'status')
  const pools = objectsAt(status ?? {}, 'pools')
  const poolCount = numberAt(status ?? {}, 'poolCount')
  const outcome = objectsAt(status ?? {}, 'conditions').find(
    each => ['Complete', 'Failed'].includes(stringAt(each, 'type')) && stringAt(each, 'status') === 'True',
  )
  const state = outcome === undefined ? 'Pending' : stringAt(outcome, 'type')
  const isCounted = status !== undefined && state !== 'Failed'
  const sum = (name: string): string =>
    isCounted ? String(pools.reduce((total, pool) => total + numberAt(pool, name), 0)) : UNKNOWN_COUNT
  const errors = pools.filter(pool => getOwn(pool, 'validationError') !== undefined).length
  return [
    nameOf(request),
    stringAt(objectAt(request, 'spec'), 'driver'),
    ...['totalDevices', 'availableDevices', 'allocatedDevices', 'unavailableDevices'].map(sum),
    isCounted ? String(errors) : UNKNOWN_COUNT,
    poolCount,
    state === 'Complete' && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state,
    state === 'Complete' ? ageCell(outcome!['lastTransitionTime'], now) : NONE,
  ]
}

export const resourcePoolStatusRequest = defineKind(API_VERSION, KIND, {
  strategy: statusApart(API_VERSION, KIND, {
    prepareForCreate: request => {
      delete request['status']
    },
    prepareForStatusUpdate: statusAlone,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    subresourcesWithoutTable: ['status'],
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    create: [metadata({ namespaced: false }), field('spec', specRules)],
    update: [metadataUpdate, immutableSpec],
    status: [metadataUpdate, statusRules],
  }),
  table: row,
})
