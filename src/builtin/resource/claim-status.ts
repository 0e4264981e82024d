// The status of a claim: the devices that were allocated, what they are reserved for, and what drivers report of them.
import {
  asStruct,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkConditions } from '../common/conditions.js'
import { checkDriverName } from '../common/driver-name.js'
import { checkOneOf } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { checkInterfaceAddress } from '../common/ip-rules.js'
import { checkUpdate, run } from '../common/rules.js'
import type { PrepareForUpdate } from '../common/strategies.js'
import { nodeSelectorRules } from '../core/pod/spec/scheduling.js'
import { checkReference, checkReferences, requestNames } from './claim-spec.js'
import { checkItems, checkLabel, checkPoolName, checkSet, checkShareId, checkStringSet } from './device-names.js'
import { checkBindingConditions, checkConfiguration, checkParameters } from './device-rules.js'

const MAX_RESERVED_FOR = 256
const MAX_CONFIGURATIONS = 64
const MAX_CONDITIONS = 8
const MAX_IPS = 16

export const claimStatus = checkUpdate((claim, old) => {
  const status = objectAt(claim, 'status')
  const oldStatus = objectAt(old, 'status')
  const isTerminating = has(objectAt(claim, 'metadata'), 'deletionTimestamp')
  return [
    ...checkSet(status, 'reservedFor', 'status', checkConsumer, {
      max: MAX_RESERVED_FOR,
      keyOf: consumer => stringAt(consumer, 'uid'),
    }),
    ...checkReportedDevices(status),
    ...checkReservation(status, oldStatus, isTerminating),
    ...checkAllocation(status, oldStatus, requestNames(objectAt(claim, 'spec'))),
  ]
})

const checkConsumer = (consumer: ValueObject, path: string): FieldError[] =>
  ['resource', 'name', 'uid'].flatMap(name =>
    stringAt(consumer, name) === '' ? [fieldRequired(`${path}.${name}`)] : [],
  )

function checkReservation(status: ValueObject, old: ValueObject, isTerminating: boolean): FieldError[] {
  const consumers = objectsAt(status, 'reservedFor')
  if (consumers.length === 0) return []
  if (!has(status, 'allocation')) {
    return [fieldForbidden('status.reservedFor', 'may not be specified when `allocated` is not set')]
  }
  const before = new Set(objectsAt(old, 'reservedFor').map(consumer => JSON.stringify(consumer)))
  const isNew = isTerminating && consumers.some(consumer => !before.has(JSON.stringify(consumer)))
  const why = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
  return isNew ? [fieldForbidden('status.reservedFor', why)] : []
}

// ---- allocation

function checkAllocation(status: ValueObject, old: ValueObject, names: ReadonlySet<string>): FieldError[] {
  const allocation = objectOrNone(status, 'allocation')
  const before = objectOrNone(old, 'allocation')
  const path = 'status.allocation'
  if (allocation === undefined) return []
  if (before !== undefined) {
    return equalValues(allocation, before)
      ? []
      : [fieldInvalid(path, asGoStruct('resource/v1.AllocationResult', allocation), 'field is immutable')]
  }
  const devices = objectAt(allocation, 'devices')
  const selector = objectOrNone(allocation, 'nodeSelector')
  return [
    ...checkItems(devices, 'results', `${path}.devices`, (result, at) => [
      ...checkReference(stringAt(result, 'request'), names, `${at}.request`),
      ...checkDevice(result, at),
      ...checkBindingConditions(result, at),
      ...(has(result, 'shareID') ? checkShareId(stringAt(result, 'shareID'), `${at}.shareID`) : []),
    ]),
    ...checkItems(
      devices,
      'config',
      `${path}.devices`,
      (configuration, at) => [
        ...checkOneOf(stringAt(configuration, 'source'), ['FromClaim', 'FromClass'], `${at}.source`, {
          required: true,
        }),
        ...checkReferences(configuration, names, at),
        ...checkConfiguration(configuration, at),
      ],
      MAX_CONFIGURATIONS,
    ),
    ...(selector === undefined ? [] : run(nodeSelectorRules, selector, undefined, `${path}.nodeSelector`)),
  ]
}

const checkDevice = (device: ValueObject, path: string): FieldError[] => [
  ...checkDriverName(stringAt(device, 'driver'), `${path}.driver`),
  ...checkPoolName(stringAt(device, 'pool'), `${path}.pool`),
  ...checkLabel(stringAt(device, 'device'), `${path}.device`),
]

// ---- what drivers report

/** What names an allocated device, and how messages show it. */
const deviceId = (device: ValueObject): { readonly Driver: string; Pool: string; Device: string; ShareID: string } => ({
  Driver: stringAt(device, 'driver'),
  Pool: stringAt(device, 'pool'),
  Device: stringAt(device, 'device'),
  ShareID: stringAt(device, 'shareID'),
})

const keyOf = (device: ValueObject): string => {
  const { Driver, Pool, Device, ShareID } = deviceId(device)
  return [Driver, Pool, Device, ...(ShareID === '' ? [] : [ShareID])].join('/')
}

const allocatedDevices = (status: ValueObject): ReadonlySet<string> =>
  new Set(objectsAt(objectAt(objectAt(status, 'allocation'), 'devices'), 'results').map(keyOf))

/** Reports of devices that the write takes away from the claim go with them. */
export const dropDeallocated: PrepareForUpdate = (claim, old) => {
  const status = objectAt(claim, 'status')
  const reports = objectsAt(status, 'devices')
  if (reports.length === 0) return
  const now = allocatedDevices(status)
  const gone = new Set([...allocatedDevices(objectAt(old, 'status'))].filter(key => !now.has(key)))
  const left = reports.filter(device => !gone.has(keyOf(device)))
  if (left.length === 0) delete status['devices']
  else status['devices'] = [...left]
}

function checkReportedDevices(status: ValueObject): FieldError[] {
  const allocated = allocatedDevices(status)
  const reports = objectsAt(status, 'devices')
  const seen = new Set<string>()
  const errors = reports.flatMap((device, i) => checkReport(device, allocated, indexPath('status.devices', i)))
  for (const [i, device] of reports.entries()) {
    const key = keyOf(device)
    if (seen.has(key)) errors.push(fieldDuplicate(indexPath('status.devices', i), asStruct(deviceId(device))))
    seen.add(key)
  }
  return errors
}

function checkReport(device: ValueObject, allocated: ReadonlySet<string>, path: string): FieldError[] {
  const conditions = objectsAt(device, 'conditions')
  const data = getOwn(device, 'data') ?? null
  return [
    ...checkDevice(device, path),
    ...(has(device, 'shareID') ? checkShareId(stringAt(device, 'shareID'), `${path}.shareID`) : []),
    ...(allocated.has(keyOf(device))
      ? []
      : [fieldInvalid(path, asStruct(deviceId(device)), 'must be an allocated device in the claim')]),
    ...(conditions.length > MAX_CONDITIONS
      ? [fieldTooMany(`${path}.conditions`, conditions.length, MAX_CONDITIONS)]
      : []),
    ...checkConditions(conditions, `${path}.conditions`),
    ...(data === null ? [] : checkParameters(data, `${path}.data`)),
    ...checkNetworkData(objectOrNone(device, 'networkData'), `${path}.networkData`),
  ]
}

const MAX_INTERFACE_NAME = 256
const MAX_HARDWARE_ADDRESS = 128

function checkNetworkData(network: ValueObject | undefined, path: string): FieldError[] {
  if (network === undefined) return []
  const bounded = (name: string, max: number): FieldError[] =>
    Buffer.byteLength(stringAt(network, name)) > max ? [fieldTooLong(`${path}.${name}`, max)] : []
  return [
    ...bounded('interfaceName', MAX_INTERFACE_NAME),
    ...bounded('hardwareAddress', MAX_HARDWARE_ADDRESS),
    ...checkStringSet(network, 'ips', path, checkInterfaceAddress, MAX_IPS),
  ]
}
