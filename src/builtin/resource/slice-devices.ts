// The devices of a slice: attributes, capacities, counters, taints, and the nodes that can use each of them.
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { run } from '../common/rules.js'
import { nodeSelectorRules } from '../core/pod/spec/scheduling.js'
import { checkRequestPolicy } from './capacity-policy.js'
import { checkAttributeName, checkItems, checkLabel, checkMap, checkRequiredLabel, checkSet } from './device-names.js'
import { checkBindingConditions, checkTaint } from './device-rules.js'

const MAX_ATTRIBUTES_AND_CAPACITIES = 32
const MAX_TAINTS = 16
const MAX_CONSUMPTIONS = 2

/** `hasNodes`: each device says which nodes can use it. `old`: the device of that name before an update. */
export function checkDevice(
  device: ValueObject,
  old: ValueObject | undefined,
  hasNodes: boolean,
  path: string,
): FieldError[] {
  const total = Object.keys(objectAt(device, 'attributes')).length + Object.keys(objectAt(device, 'capacity')).length
  const tooMany = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES_AND_CAPACITIES}`
  const isShared = getOwn(device, 'allowMultipleAllocations') === true
  const hasOldTaints = old !== undefined && equalValues(getOwn(old, 'taints') ?? [], getOwn(device, 'taints') ?? [])
  return [
    ...checkLabel(stringAt(device, 'name'), `${path}.name`),
    ...(total > MAX_ATTRIBUTES_AND_CAPACITIES ? [fieldInvalid(path, total, tooMany)] : []),
    ...checkMap(device, 'attributes', path, { key: checkAttributeName, value: checkAttribute }),
    ...checkMap(device, 'capacity', path, { key: checkAttributeName, value: checkCapacity(isShared) }),
    ...(hasOldTaints ? [] : checkItems(device, 'taints', path, checkTaint, MAX_TAINTS)),
    ...checkSet(device, 'consumesCounters', path, checkConsumption, {
      max: MAX_CONSUMPTIONS,
      keyOf: consumption => stringAt(consumption, 'counterSet'),
    }),
    ...(hasNodes ? checkNodes(device, path) : checkNoNodes(device, path)),
    ...checkBindingConditions(device, path),
  ]
}

// ---- attributes and capacity

const MAX_VALUE = 64
const NUMBER = '(0|[1-9]\\d*)'
const PRE_RELEASE = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const BUILD = '[0-9a-zA-Z-]+'
const SEMANTIC_VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRE_RELEASE}(\\.${PRE_RELEASE})*)?(\\+${BUILD}(\\.${BUILD})*)?$`,
)
const VALUE_FIELDS = ['bool', 'int', 'string', 'version']

function checkAttribute(attribute: ValueObject, path: string): FieldError[] {
  const given = VALUE_FIELDS.filter(name => has(attribute, name))
  const [text, version] = [stringAt(attribute, 'string'), stringAt(attribute, 'version')]
  const isVersion = !has(attribute, 'version') || SEMANTIC_VERSION.test(version)
  const shown = given.length === 0 ? '' : asGoStruct('resource/v1.DeviceAttribute', attribute)
  return [
    ...(Buffer.byteLength(text) > MAX_VALUE ? [fieldTooLong(`${path}.string`, MAX_VALUE)] : []),
    ...(isVersion
      ? []
      : [fieldInvalid(`${path}.version`, version, 'must be a string compatible with semver.org spec 2.0.0')]),
    ...(Buffer.byteLength(version) > MAX_VALUE ? [fieldTooLong(`${path}.version`, MAX_VALUE)] : []),
    ...(given.length === 1 ? [] : [fieldInvalid(path, shown, 'exactly one value must be specified')]),
  ]
}

/** Only a device that several claims share says how much a claim may ask for. */
const checkCapacity =
  (isShared: boolean) =>
  (capacity: ValueObject, path: string): FieldError[] => {
    const policy = objectOrNone(capacity, 'requestPolicy')
    const at = `${path}.requestPolicy`
    if (policy === undefined) return []
    return isShared
      ? checkRequestPolicy(policy, capacity, at)
      : [fieldForbidden(at, 'allowMultipleAllocations must be true')]
  }

// ---- counters

const MAX_COUNTERS = 32

export const checkCounterSet = (set: ValueObject, path: string): FieldError[] => [
  ...checkRequiredLabel(stringAt(set, 'name'), `${path}.name`),
  ...checkCounters(set, path),
]

const checkConsumption = (consumption: ValueObject, path: string): FieldError[] => [
  ...checkRequiredLabel(stringAt(consumption, 'counterSet'), `${path}.counterSet`),
  ...checkCounters(consumption, path),
]

const checkCounters = (holder: ValueObject, path: string): FieldError[] =>
  Object.keys(objectAt(holder, 'counters')).length === 0
    ? [fieldRequired(`${path}.counters`)]
    : checkMap(holder, 'counters', path, { key: checkLabel, max: MAX_COUNTERS })

// ---- nodes

const NODE_FIELDS = ['nodeName', 'nodeSelector', 'allNodes']
const ONE_OF_THREE =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
const NOT_PER_DEVICE =
  '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec'

const checkNoNodes = (device: ValueObject, path: string): FieldError[] =>
  NODE_FIELDS.some(name => has(device, name)) ? [fieldInvalid(path, null, NOT_PER_DEVICE)] : []

function checkNodes(device: ValueObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  const name = stringAt(device, 'nodeName')
  if (has(device, 'nodeName') && name === '') errors.push(fieldInvalid(`${path}.nodeName`, '', 'must not be empty'))
  else if (name !== '') errors.push(...checkText(name, checkDnsSubdomain, `${path}.nodeName`))
  const selector = objectOrNone(device, 'nodeSelector')
  if (selector) errors.push(...run(nodeSelectorRules, selector, undefined, `${path}.nodeSelector`))
  if (getOwn(device, 'allNodes') === false) {
    errors.push(fieldInvalid(`${path}.allNodes`, false, 'must be either unset or set to true'))
  }
  const given = givenNodes(device, NODE_FIELDS)
  if (given.length === 0) errors.push(fieldRequired(path, ONE_OF_THREE))
  if (given.length > 1) errors.push(fieldInvalid(path, printNames(given), ONE_OF_THREE))
  return errors
}

/** The fields that select nodes: a text that is not empty, an object, or true. */
export const givenNodes = (holder: ValueObject, names: readonly string[]): string[] =>
  names.filter(name => {
    const value = getOwn(holder, name)
    return value !== undefined && value !== null && value !== '' && value !== false
  })

export const printNames = (names: readonly string[]): string => `{${names.map(name => `\`${name}\``).join(', ')}}`

/** A slice with such devices may have fewer of them. */
export const needsMore = (device: ValueObject): boolean =>
  objectsAt(device, 'taints').length > 0 || objectsAt(device, 'consumesCounters').length > 0
