// ResourceSlice: the devices of a node or of a network, as a driver publishes them.
import { failed } from '../../base/result.js'
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import {
  ensureObject,
  has,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { firstByKey } from '../../meta/values/list-keys.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkDriverName } from '../common/driver-name.js'
import { earlierVersion } from '../common/earlier-version.js'
import { checkText } from '../common/field-checks.js'
import { asGoField } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field, immutable, run } from '../common/rules.js'
import { type SelectableFields, selectableFields, stringField } from '../common/selectable-fields.js'
import { inTurn, type PrepareForCreate, specOnly } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { nodeSelectorRules } from '../core/pod/spec/scheduling.js'
import { checkPoolName, checkSet } from './device-names.js'
import { checkCounterSet, checkDevice, givenNodes, needsMore, printNames } from './slice-devices.js'
import { partsOfDevice, SLICE, withV1beta1 } from './v1beta1.js'

const MAX_DEVICES = 128
const MAX_DEVICES_WITH_MORE = 64
const MAX_COUNTER_SETS = 8

const deviceName = (device: ValueObject): string => stringAt(device, 'name')

const specRules = [
  check((spec, path) => checkDriverName(stringAt(spec, 'driver'), `${path}.driver`)),
  field('pool', [
    check((pool, path) => checkPoolName(stringAt(pool, 'name'), `${path}.name`)),
    check((pool, path) => {
      const count = numberAt(pool, 'resourceSliceCount')
      return count > 0 ? [] : [fieldInvalid(`${path}.resourceSliceCount`, count, 'must be greater than zero')]
    }),
    check((pool, path) => {
      const generation = numberAt(pool, 'generation')
      const why = 'must be greater than or equal to zero'
      return generation >= 0 ? [] : [fieldInvalid(`${path}.generation`, generation, why)]
    }),
    immutable('name'),
  ]),
  immutable('driver'),
  immutable('nodeName', { typed: true }),
  check((spec, path) => checkNodes(spec, path)),
  check((spec, path) =>
    asGiven(spec, 'sharedCounters') !== null && asGiven(spec, 'devices') !== null
      ? [fieldInvalid(path, '', 'only one of `sharedCounters` or `devices` is allowed')]
      : [],
  ),
  check((spec, path, old) => {
    const before = firstByKey(old === undefined ? [] : objectsAt(old, 'devices'), deviceName)
    const hasNodes = getOwn(spec, 'perDeviceNodeSelection') === true
    const max = objectsAt(spec, 'devices').some(needsMore) ? MAX_DEVICES_WITH_MORE : MAX_DEVICES
    return checkSet(
      spec,
      'devices',
      path,
      (device, at) => checkDevice(device, before.get(deviceName(device)), hasNodes, at),
      { max, keyOf: deviceName },
    )
  }),
  check((spec, path) =>
    checkSet(spec, 'sharedCounters', path, checkCounterSet, { max: MAX_COUNTER_SETS, keyOf: deviceName }),
  ),
]

const NODE_FIELDS = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection']
const ONE_OF_FOUR = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'

function checkNodes(spec: ValueObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  const name = stringAt(spec, 'nodeName')
  if (name !== '') errors.push(...checkText(name, checkDnsSubdomain, `${path}.nodeName`))
  else if (has(spec, 'nodeName')) {
    errors.push(fieldInvalid(`${path}.nodeName`, '', 'must be either unset or set to a non-empty string'))
  }
  const selector = objectOrNone(spec, 'nodeSelector')
  if (selector !== undefined) {
    errors.push(...run(nodeSelectorRules, selector, undefined, `${path}.nodeSelector`))
    if (objectsAt(selector, 'nodeSelectorTerms').length !== 1) {
      const shown = asGoField('core/v1.NodeSelector', selector, 'nodeSelectorTerms')
      const at = `${path}.nodeSelector.nodeSelectorTerms`
      errors.push(fieldInvalid(at, shown, 'must have exactly one node selector term'))
    }
  }
  for (const flag of ['allNodes', 'perDeviceNodeSelection']) {
    if (getOwn(spec, flag) !== false) continue
    errors.push(fieldInvalid(`${path}.${flag}`, false, 'must be either unset or set to true'))
  }
  const given = givenNodes(spec, NODE_FIELDS)
  if (given.length === 0) errors.push(fieldRequired(path, ONE_OF_FOUR))
  if (given.length > 1) {
    errors.push(fieldInvalid(path, printNames(given), `${ONE_OF_FOUR}, but multiple fields are set`))
  }
  return errors
}

const devicesOf = (slice: ValueObject): readonly ValueObject[] => objectsAt(objectAt(slice, 'spec'), 'devices')

/** The time of a taint that has none is that of the write. */
const dateTaints: PrepareForCreate = (slice, { now }) => {
  for (const device of devicesOf(slice)) {
    for (const taint of objectsAt(partsOfDevice(device), 'taints')) setDefault(taint, 'timeAdded', now)
  }
}

function defaultMappings(slice: ValueObject): void {
  for (const device of devicesOf(slice)) {
    for (const mapping of Object.values(objectAt(partsOfDevice(device), 'nodeAllocatableResourceMappings'))) {
      if (isObject(mapping)) setDefault(mapping, 'allocationMultiplier', '1')
    }
  }
}

/** In v1beta1 every device has its parts in `basic`, even if there are none. */
function defaultBasic(slice: ValueObject): void {
  for (const device of devicesOf(slice)) ensureObject(device, 'basic')
  defaultMappings(slice)
}

function driverWarnings(slice: ValueObject): string[] {
  const driver = stringAt(objectAt(slice, 'spec'), 'driver')
  if (driver === driver.toLowerCase()) return []
  return [`spec.driver: driver names should be lowercase; "${driver}" contains uppercase characters`]
}

const plainFields = selectableFields(
  { 'spec.nodeName': stringField('spec', 'nodeName'), 'spec.driver': stringField('spec', 'driver') },
  { namespaced: false },
)

/** The message for a field that is not selectable names the version. */
const sliceFields = (version: string): SelectableFields => ({
  ...plainFields,
  support: (name, value) => {
    const supported = plainFields.support(name, value)
    return supported.ok
      ? supported
      : failed(`field label not supported for resource.k8s.io/${version}, Kind=ResourceSlice: ${name}`)
  },
})

const resourceSlice = defineKind('resource.k8s.io/v1', 'ResourceSlice', {
  defaults: defaultMappings,
  strategy: {
    prepareForCreate: (slice, context) => {
      dateTaints(slice, context)
      specOnly.prepareForCreate!(slice, context)
    },
    prepareForUpdate: inTurn((slice, _, context) => dateTaints(slice, context), specOnly.prepareForUpdate!),
    returnsDeletedObject: true,
    pagedByField: 'spec.nodeName',
  },
  validation: validationRules({
    create: [metadata({ namespaced: false }), field('spec', specRules)],
    update: [metadataUpdate, field('spec', specRules)],
  }),
  warnings: driverWarnings,
  selectableFields: sliceFields('v1'),
  table: (slice, now) => {
    const spec = objectAt(slice, 'spec')
    const pool = stringAt(objectAt(spec, 'pool'), 'name')
    return [nameOf(slice), stringAt(spec, 'nodeName'), stringAt(spec, 'driver'), pool, ageOf(slice, now)]
  },
})

export const resourceSlices = withV1beta1(
  resourceSlice,
  earlierVersion({ ...resourceSlice, selectableFields: sliceFields('v1beta2') }, 'v1beta2', { since: 36 }),
  SLICE,
  { defaults: defaultBasic, selectableFields: sliceFields('v1beta1') },
)
